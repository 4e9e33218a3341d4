/** A file: text, bytes, or a size with a function that fills `into` with the bytes at `offset`. */
export type Input = string | ArrayBufferView | ArrayBuffer | Source;
export interface Source {
  size: number;
  /** Must fill `into` before it returns: a promise is a `TypeError`. */
  read(offset: number, into: Uint8Array): void;
}

/** Options of the command `stowage`, under its names. */
export interface Options {
  /** The name of the file, in messages and plans. By default `graph.stow` for text, else `model.onnx`. */
  name?: string;
  /** Values of symbolic dimensions: `--bind`. */
  bind?: Record<string, number>;
  /** Data of inputs that shapes depend on, `1,2,3`: `--value`. */
  value?: Record<string, string | number>;
  /** Largest shapes of tensors whose shape depends on data, `1x100x6`: `--shape`. */
  shape?: Record<string, string>;
  /** Further words, such as `["--capacity", "256KiB"]`. Use `command` for other formats. */
  args?: string[];
}

/** A plan: docs/plan-format.md, JSON. */
export interface Plan {
  stowage_plan: 1;
  graph: string;
  fingerprint: string;
  strategy: string;
  /** In bytes, as all sizes and offsets. */
  arena_size: number;
  arena_alignment: number;
  total_unshared: number;
  saved: number;
  lower_bound: number;
  steps: number;
  capacity: number | null;
  search: { outcome: Outcome; bound: number; nodes: number; stopped: boolean };
  ordering: Record<string, number | boolean | null>;
  options: Record<string, unknown>;
  fit: {
    fits: boolean;
    possible: boolean;
    excess: number;
    value: number | null;
    value_bytes: number;
    step: number;
    largest_hole: number;
  };
  peak: { step: number; scratch: number; values: number[] };
  outputs: number[];
  /** The node of each step. */
  order: number[];
  values: PlanValue[];
  scratch: PlanScratch[];
  reserved: { offset: number; size: number }[];
  decisions: Record<string, unknown>[];
  hints: { change: string; arena_size: number }[];
}
export type Outcome = "optimal" | "feasible" | "infeasible" | "gave up";
export interface PlanValue {
  id: number;
  name: string | null;
  kind: "input" | "param" | "constant" | "value";
  dtype: string;
  /** null: it has no slot, as weights that stay in their file. */
  offset: number | null;
  size: number | null;
  /** The value whose bytes it is in; itself if they are its own. */
  root: number;
  /** It is live in steps `begin` to `end - 1`. */
  begin: number;
  end: number;
  guard: number;
  alignment: number;
  /** `[begin, end, low, high]` each: steps in which only a part is occupied. */
  windows: [number, number, number, number][];
}
export interface PlanScratch {
  node: number;
  index: number;
  step: number;
  offset: number;
  size: number;
  alignment: number;
  need: number;
}

/** Placed buffers: `stowage solve --format json`. */
export interface Placement {
  stowage_solve: 1;
  buffers: number;
  outcome: Outcome;
  height: number;
  lower_bound: number;
  capacity: number | null;
  placement: { id: string; offset: number }[];
  [key: string]: unknown;
}

/** What a model contains: `stowage inspect --format json`. */
export interface Inspection {
  graph: string;
  nodes: number;
  inputs: { name: string; declared: string; inferred: string }[];
  outputs: { name: string; declared: string; inferred: string }[];
  /** Symbols that need a value. */
  bind: { symbol: string; tensor: string; axis: number; depends_on_data: boolean }[];
  [key: string]: unknown;
}

/** A command failed; its message says why. `exit` is 2 for wrong options, 3 for a bad file. */
export class StowageError extends Error {
  exit: number;
}

/** Plans an ONNX model or a graph as text. A plan that misses a capacity is returned: see `fit`. */
export function plan(model: Input, options?: Options): Promise<Plan>;
/** Lists the inputs, symbols, ops and problems of an ONNX model. */
export function inspect(model: Input, options?: Options): Promise<Inspection>;
/** Draws a plan: a self-contained page, or `svg`, `ascii`, `trace`, `json`. */
export function view(
  model: Input,
  options?: Options & { format?: "html" | "svg" | "ascii" | "trace" | "json" },
): Promise<string>;
/** Places buffers: CSV with the columns `id`, `lower`, `upper`, `size`. */
export function solve(csv: Input, options?: Options): Promise<Placement>;

export interface Result {
  exit: number;
  /** Standard output. */
  out: Uint8Array;
  /** Standard error. */
  err: string;
  /** Files that it wrote. */
  files: Map<string, Uint8Array>;
  /** Bytes of its memory. */
  memory: number;
}
/** Runs any command but `run` and `export`: `command(["diff", "a.stow", "b.stow"], {…})`. */
export function command(args: string[], files?: Record<string, Input>): Promise<Result>;
