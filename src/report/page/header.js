// Around the picture: the facts, the legend, the choice of colours, the tabs.

function showFacts(app) {
  const { model } = app;
  const { facts } = model;
  const then = (model.against && model.against.facts) || {};
  const item = (name, text, title, key) => {
    const difference = typeof then[key] === "number" ? facts[key] - then[key] : 0;
    return make(
      "div",
      { class: "fact", title },
      make("dt", {}, name),
      make(
        "dd",
        {},
        text,
        difference
          ? make(
              "span",
              { class: difference > 0 ? "worse" : "better" },
              " " + signedBytes(difference),
            )
          : null,
      ),
    );
  };
  const bytes = (name, n, key, note) =>
    typeof n === "number" ? item(name, bytesText(n) + (note || ""), exactBytes(n), key) : null;
  const above =
    facts.bound > 0 && facts.arena > facts.bound
      ? " +" + percent(facts.arena - facts.bound, facts.bound)
      : "";
  const saved =
    facts.unshared > 0
      ? " −" + percent(Math.max(0, facts.unshared - facts.arena), facts.unshared)
      : "";
  $("facts").replaceChildren(
    ...[
      bytes("Arena", facts.arena, "arena"),
      bytes(
        "Lower bound",
        facts.bound,
        "bound",
        facts.bound === facts.arena ? " reached" : above ? "; arena" + above : "",
      ),
      bytes("Any-order bound", facts.any_bound > 0 ? facts.any_bound : null, "any_bound"),
      item("Peak", "step " + thousands(model.peak), exactBytes(model.peakLoad)),
      bytes("Without sharing", facts.unshared, "unshared", saved),
      bytes(
        "In the given order",
        facts.given_arena > 0 && facts.given_arena !== facts.arena ? facts.given_arena : null,
        "given_arena",
      ),
      bytes(
        "Capacity",
        facts.capacity,
        null,
        facts.capacity === null ? "" : facts.arena <= facts.capacity ? " fits" : " too small",
      ),
      item("Steps", thousands(facts.steps)),
      item("Buffers", thousands(model.buffers.count)),
      facts.strategy
        ? item(
            "Strategy",
            shownName(facts.strategy, 30) +
              (facts.outcome ? ", " + shownName(facts.outcome, 30) : ""),
          )
        : null,
    ].filter(Boolean),
  );
  showHints(model);
  $("summary").textContent = summaryOf(model);
  const details = {
    source: model.data.source,
    fingerprint: facts.fingerprint,
    alignment: facts.alignment,
    ...facts.options,
  };
  $("options").replaceChildren(
    ...Object.entries(details)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) =>
        make("div", {}, ...term(shownName(name, 60), shownName(String(value), 200))),
      ),
  );
}

// Options that were tried, and what each would save.
function showHints(model) {
  const hints = model.data.hints || [];
  $("hints-box").hidden = !hints.length;
  $("hints").replaceChildren(
    ...hints.map(({ change, arena }) =>
      make(
        "div",
        { title: exactBytes(arena) },
        ...term(shownName(change, 200), signedBytes(arena - model.facts.arena)),
      ),
    ),
  );
}

function legendKey(name, label) {
  return make(
    "li",
    { class: "key" },
    make("span", { class: "swatch " + name, "aria-hidden": "true" }),
    label,
  );
}

// The last part of a module's path, and the one before it where the last is a number or not alone.
function moduleLabels(groups) {
  const paths = groups.map((group) => group.label.split("/"));
  const last = (path) => path[path.length - 1];
  return paths.map((path) => {
    const alone = paths.filter((other) => last(other) === last(path)).length === 1;
    return path.slice(alone && !/^\d+$/.test(last(path)) ? -1 : -2).join("/");
  });
}

function showLegend(app) {
  const { colours, model } = app;
  const labels =
    app.colouring === "module"
      ? moduleLabels(colours.groups)
      : colours.groups.map((group) => group.label);
  const buttons = colours.groups.map((group, g) => {
    if (!group.count) return null;
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.backgroundColor = group.colour;
    return make(
      "li",
      {},
      make(
        "button",
        {
          type: "button",
          "aria-pressed": String(app.pressed.has(g)),
          title:
            shownName(group.label, 100) +
            ": " +
            plural(group.count, "buffer") +
            ", " +
            bytesText(group.bytes),
          click: (event) => {
            if (!app.pressed.delete(g)) app.pressed.add(g);
            event.currentTarget.setAttribute("aria-pressed", String(app.pressed.has(g)));
            app.singleOut();
            app.table.refresh();
          },
        },
        swatch,
        shownName(labels[g], 24),
      ),
    );
  });
  const { buffers } = model;
  const keys = [legendKey("hole", "free below the top")];
  if (buffers.guard.some((guard) => guard > 0)) keys.push(legendKey("guard", "guard"));
  if (buffers.flags.some((flags) => flags & FLAG_FIXED))
    keys.push(legendKey("fixed", "fixed offset"));
  if (model.against) keys.push(legendKey("then", "where it was"));
  $("legend").replaceChildren(...buttons.filter(Boolean), ...keys);
}

function attachColours(app) {
  const names = Object.keys(COLOURINGS).filter((name) => name !== "change" || app.model.against);
  $("colour").append(
    ...names.map((name) => make("option", { value: name }, COLOURINGS[name].label)),
  );
  $("colour").addEventListener("change", () => app.setColouring($("colour").value));
  const deeper = (by) => () => {
    app.depth = clamp(app.depth + by, 1, 12);
    app.setColouring("module");
  };
  $("depth-less").addEventListener("click", deeper(-1));
  $("depth-more").addEventListener("click", deeper(1));
}

function attachTheme(app) {
  const root = document.documentElement;
  const name = () => {
    const next = app.theme() === THEMES.dark ? "light" : "dark";
    $("theme").setAttribute("aria-label", "Switch to " + next + " colours");
    $("theme").title = "Switch to " + next + " colours";
    return next;
  };
  $("theme").addEventListener("click", () => {
    root.dataset.theme = name();
    name();
    app.shade();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    name();
    app.shade();
  });
  name();
}

const TABS = ["step", "tensor", "changes"];

function showTab(name) {
  for (const tab of TABS) {
    const chosen = tab === name;
    $("tab-" + tab).setAttribute("aria-selected", String(chosen));
    $("tab-" + tab).tabIndex = chosen ? 0 : -1;
    $("panel-" + tab).hidden = !chosen;
  }
}

function attachTabs() {
  const shown = () => TABS.filter((tab) => !$("tab-" + tab).hidden);
  for (const tab of TABS) {
    $("tab-" + tab).addEventListener("click", () => showTab(tab));
    $("tab-" + tab).addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const names = shown();
      const next = names[(names.indexOf(tab) + by + names.length) % names.length];
      showTab(next);
      $("tab-" + next).focus();
      event.preventDefault();
    });
  }
}
