// The start: reads the data, builds the page, or says why it cannot.

// Paper is white: pictures are drawn anew in the light theme, the table as far as it goes on paper.
function attachPrint(app) {
  const turn = (on) => () => {
    app.printing = on;
    app.shade();
    app.table.whole(on);
    app.draw();
  };
  window.addEventListener("beforeprint", turn(true));
  window.addEventListener("afterprint", turn(false));
}

function start(data) {
  const app = new App(data);
  const { model } = app;
  document.title = shownName(data.title || "plan", 80) + " – Stowage";
  $("title").textContent = shownName(data.title || "Stowage plan", 80);
  $("source").textContent =
    data.source && data.source !== data.title ? shownName(data.source, 120) : "";
  $("main").hidden = false;
  attachColours(app);
  app.setColouring(firstColouring(model));
  showFacts(app);
  app.arena = makeArena(app, $("arena"));
  app.loadPicture = makeLoadPicture(app, $("load"));
  app.table = makeTable(app);
  app.table.refresh();
  attachTheme(app);
  attachTabs();
  attachPictures(app);
  attachKeys(app);
  attachControls(app);
  attachPrint(app);
  showTensor(app);
  app.selectStep(model.peak);
  attachRange(app);
  if (model.against) {
    $("tab-changes").hidden = false;
    showChanges(app);
    showTab("changes");
  } else showTab("step");
  new ResizeObserver(() => app.invalidate(true)).observe(app.arena.canvas.parentElement);
  app.draw();
  performance.mark("stowage-drawn");
  return app;
}

function fail(error) {
  $("message").textContent = error.message;
  $("message").hidden = false;
}

try {
  window.stowage = start(readData());
} catch (error) {
  $("main").hidden = true;
  fail(error);
  if (!(error instanceof Error) || error.constructor !== Error) throw error;
}
