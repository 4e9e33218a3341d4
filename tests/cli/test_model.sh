# ONNX models: planned, inspected, printed; options, messages and exit codes.
. "$(dirname "$0")/harness.sh"

# examples/make_onnx.py writes the models.
if command -v python3 >/dev/null 2>&1; then
  mkdir "$work/made"
  python3 "$examples/make_onnx.py" "$work/made"
  for model in digits digits_int8 encoder decode decoder; do
    name="TheModelIsWhatTheScriptWrites ($model)"
    if cmp -s "$examples/$model.onnx" "$work/made/$model.onnx"; then pass; else fail "it is not"; fi
  done
else
  skip "no python3: the models are not made anew"
fi

# Planning
run plan "$examples/digits.onnx"
expect 0 AStaticModelNeedsNoOptions
says '@digits in'
says 'ONNX, IR version 8, opset 13, by stowage-examples 1'
says '9 nodes, 9098 parameters in 6 tensors'
says "6 buffers, 1 view, 3 shared, 6 weights outside"
says 'not in the arena: map the file'
says 'while pool makes pool0'
says '  relu0   f32[1, 8, 28, 28]'
says '  order           given: none needs less'
says 'every slot, view and lifetime proven'

run plan "$examples/digits.onnx" --weights arena
expect 0 WeightsCanBeInTheArena
says 'KiB   in the arena'
says '  fc.weight '
says "12 buffers, 1 view, 3 shared"
run plan "$examples/digits.onnx" --weights arena --io external
expect 0 WeightsThatAreExternalAreNot
says 'KiB   not in the arena: map the file'
says '6 weights, 2 others outside'
run plan "$examples/digits.onnx" --weights arena --io fc.weight=external
expect 0 SomeWeightsMayBe
says 'KiB   some of them in the arena'

run plan "$examples/encoder.onnx"
expect 3 SymbolsNeedValues
complains 'inputs have symbols without a value: batch, length'
lists '--bind batch=N --bind length=N'
lists '--bind-rest N'

run plan "$examples/encoder.onnx" --bind batch=2,length=16
expect 0 BoundSymbolsMakeAModelStatic
says 'gap 0 B'

run plan "$examples/encoder.onnx" --bind length=16 --bind-rest 2
expect 0 TheRestCanBeBoundTogether
cp "$out" "$work/rest"
run plan "$examples/encoder.onnx" --bind batch=2,length=16
name=TheRestIsBoundLikeTheOthers
if cmp -s "$out" "$work/rest"; then pass; else fail "another plan"; fi

run plan "$examples/encoder.onnx" --bind batch=2,length=16,nonsense=3
expect 2 AnUnknownSymbolIsRefused
complains 'the model has no symbol "nonsense"; its symbols are "batch", "length"'

run plan "$examples/encoder.onnx" --bind batch=2,length=16
expect 0 TheSummaryTellsTheSymbols
says '  symbols         batch=2, length=16'
run plan "$examples/digits.onnx" --bind n=1
expect 2 AModelWithoutSymbolsBindsNone
complains 'it has no symbols'
run plan "$examples/digits.onnx" --value nonsense=1
expect 2 AValueNeedsItsInput
complains 'its inputs are "image"'
run plan "$examples/digits.onnx" --shape cov0=1x8x28x28
expect 2 AShapeNeedsItsTensor
complains 'did you mean "conv0"?'
run plan "$examples/digits.onnx" --shape conv0=1x8x28x29
expect 2 AShapeMustBeWhatIsInferred
complains 'the shape that is given does not fit'

# A device
run plan "$examples/digits.onnx" --capacity 30KiB
expect 1 AModelCanBeTooLarge
complains '@digits does not fit: 34496 bytes required, 30720 available, 3776 too many'
lists 'no order can fit: when pool runs (node 9), 34496 bytes are needed at once, the largest: %8 "relu0" (25088 bytes)'
run plan "$examples/digits.onnx" --capacity 64KiB --format c -o "$work/digits.h"
expect 0 AModelCanBeAHeader
name=TheHeaderHasTheTensors
if grep -q '#define DIGITS_PROBABILITIES_OFFSET' "$work/digits.h"; then pass; else fail "it lacks one"; fi

"$stowage" plan - <"$examples/digits.onnx" >"$out" 2>"$err"
code=$?
expect 0 AModelCanComeFromStandardInput
says '@digits in <stdin>'

cp "$examples/digits.onnx" "$work/no-extension"
run plan "$work/no-extension"
expect 0 AModelIsKnownByItsFirstByte

# A saved plan is proven against the model
run plan "$examples/encoder.onnx" --bind batch=2,length=16 --format plan -o "$work/encoder.plan"
expect 0 APlanOfAModelCanBeSaved
run check "$examples/encoder.onnx" "$work/encoder.plan" --bind batch=2,length=16
expect 0 AndProven
run check "$examples/encoder.onnx" "$work/encoder.plan" --bind batch=2,length=17
expect 3 NotForOtherDims
complains 'fingerprint'

# Inspecting
run inspect "$examples/encoder.onnx"
expect 0 InspectingNeedsNoValues
says 'tokens'
says 'i64[batch, length]'
says 'f32[batch, length, 32]'
name=AnInferredTypeThatSaysNoMoreIsLeftOut
if grep -q '→' "$out"; then fail "it is shown"; else pass; fi
says 'symbols without a value'
says 'MatMul'
run inspect "$examples/encoder.onnx" --format json
expect 0 InspectingGivesJson
says '"ir_version": 8'
says '"imported": true'
if command -v python3 >/dev/null 2>&1; then
  name=TheJsonIsWellFormed
  if python3 -m json.tool <"$out" >/dev/null 2>&1; then pass; else fail "it is not"; fi
fi
run inspect "$examples/decode.onnx"
expect 0 InspectingADecoder
name=LinesFitATerminal
if LC_ALL=C.UTF-8 awk 'length($0) > 80 {exit 1}' "$out"; then pass; else fail "a line is too long"; fi
run inspect "$examples/tiny.stow"
expect 3 ATextIsNoModel
complains 'not an ONNX model: it is a text; see stowage fmt and plan'
run inspect "$examples/encoder.onnx" --format yaml
expect 2 AnUnknownFormat

# As text
run fmt "$examples/encoder.onnx" --bind batch=2,length=16
expect 0 AModelCanBeText
says 'graph @encoder'
says 'source = "encoder.onnx"'
cp "$out" "$work/encoder.stow"
run plan "$work/encoder.stow" --weights file
expect 0 TheTextCanBePlanned
run fmt "$work/encoder.stow" --check
expect 0 TheTextIsCanonical
run fmt "$examples/encoder.onnx" --keep-all
expect 0 SymbolsStayExpressions
says '?batch'
says 'shape('
run fmt "$examples/encoder.onnx" --check
expect 2 AModelHasNoCanonicalForm
run fmt "$examples/tiny.stow" --bind x=1
expect 2 BindingATextIsNotFormatting

# Caches
run plan "$examples/decode.onnx" --bind batch=1,past=15
expect 0 ADecoderCanBePlanned
cp "$out" "$work/apart"
run plan "$examples/decode.onnx" --bind batch=1,past=15 --alias 'present.*=past.*' --format json
expect 0 CachesCanStayInPlace
run plan "$examples/decode.onnx" --bind batch=1,past=15 --alias 'present.*=past.*'
expect 0 CachesInPlaceAreProven
says '  kept in place   2 outputs in the bytes of inputs'
arena() { sed -n 's/^  arena  *\([0-9]*\) B.*/\1/p' "$1"; }
name=CachesInPlaceTakeLess
if [ "$(arena "$out")" -lt "$(arena "$work/apart")" ]; then pass; else fail "$(arena "$out")"; fi
run plan "$examples/decode.onnx" --bind batch=1,past=15 --alias 'result=hidden_state'
expect 0 AResultCanTakeItsInput
run plan "$examples/decode.onnx" --bind batch=1,past=15 --alias 'present.0.key=past.0.value'
expect 1 AnAliasOfWhatIsNotReadIsRefused
complains 'does not read the input'
run plan "$examples/decode.onnx" --bind batch=1,past=15 --alias 'absent=past.0.value'
expect 2 AnAliasNeedsItsOutput
run plan "$examples/decode.onnx" --bind batch=1,past=15 --alias 'present.*=nothing.*'
expect 2 AnAliasNeedsItsInput
run plan "$examples/decode.onnx" --alias 'present.*=past'
expect 2 StarsComeInPairs

# Values and shapes on the command line
for bad in 'tokens' '=1' 'tokens=1,x' 'tokens='; do
  run plan "$examples/encoder.onnx" --value "$bad"
  expect 2 "ABadValue ($bad)"
done
for bad in 'encoded' 'encoded=1y2' 'encoded=-1x2'; do
  run plan "$examples/encoder.onnx" --shape "$bad"
  expect 2 "ABadShape ($bad)"
done
run plan "$examples/encoder.onnx" --value tokens=1,2,3,4 --bind batch=2,length=2
expect 0 AValueOfAnInput
run plan "$examples/encoder.onnx" --bind batch=1,length=2 \
  --value tokens=9223372036854775807,-9223372036854775808
expect 0 AValueAtTheEndsOfTheRange
run plan "$examples/encoder.onnx" --bind batch=1,length=2 --value tokens=9223372036854775808,0
expect 2 AValueBeyondTheRange
run plan "$examples/encoder.onnx" --value tokens=1,2,3 --bind batch=2,length=2
expect 3 AValueThatDoesNotFill
complains 'tokens'
printf 'no array' >"$work/bad.npy"
run plan "$examples/encoder.onnx" --value "tokens=$work/bad.npy"
expect 3 ABadArray
complains 'not a .npy file'
run plan "$examples/encoder.onnx" --value "tokens=$work/missing.npy"
expect 5 AMissingArray
if command -v python3 >/dev/null 2>&1; then
  python3 - "$work/good.npy" <<'P'
import struct, sys
head = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }"
head += " " * (63 - (len(head) + 10) % 64) + "\n"
open(sys.argv[1], "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                              struct.pack("<4q", 1, 2, 3, 4))
P
  run plan "$examples/encoder.onnx" --value "tokens=$work/good.npy"
  expect 0 AnArrayBindsTheSymbolsOfItsInput
fi

# What is missing is asked for in the order in which it can be given
if command -v python3 >/dev/null 2>&1; then
  PYTHONPATH=$examples python3 -B - "$work" <<'P'
import sys
from make_onnx import FLOAT, INT64, Model, attribute, field_bytes, field_int, value_info

# A Range over a dim, in floats, as exporters write grids: a number only once the dim is one.
m = Model("grid", 13)
x = m.input("x", FLOAT, ["batch", "width"])
size = m.op("Cast", [m.op("Gather", [m.op("Shape", [x], "shape"), m.ints("one", 1)], "w")], "size", to=FLOAT)
grid = m.op("Range", [m.number("start", 0.0), size, m.number("step", 1.0)], "grid")
m.op("Add", [x, grid], "y")
m.output("y", FLOAT, ["batch", "width"])
open(sys.argv[1] + "/grid.onnx", "wb").write(m.bytes())

def graph(kind, operands, name):
    node = b"".join(field_bytes(1, o) for o in operands) + field_bytes(2, name) + field_bytes(4, kind)
    return field_bytes(1, node) + field_bytes(2, name) + field_bytes(12, field_bytes(1, name))

def branch(name, body):
    return field_bytes(5, field_bytes(1, name) + field_bytes(6, body) + field_int(20, 5))

def add_if(m, condition, then_body, else_body, name):
    m.nodes.append(field_bytes(1, condition) + field_bytes(2, name) + field_bytes(4, "If") +
                   branch("then_branch", then_body) + branch("else_branch", else_body))
    m.output(name, FLOAT, [])

# A detector: which branch runs depends on an unnamed dim, and on what an input holds.
def detector(path, decides):
    m = Model("detector", 13)
    m.input("input", FLOAT, ["", ""])
    m.input("rate", INT64, [])
    rows = m.op("Gather", [m.op("Shape", ["input"], "shape"), m.ints("zero", 0)], "rows")
    is_one = m.op("Equal", [rows, m.ints("one", 1)], "is_one")
    is_fast = m.op("Equal", ["rate", m.ints("fast", 16000)], "is_fast")
    m.ints("flat", [-1])
    for name, condition in (("by_rows", is_one), ("by_rate", is_fast))[:decides]:
        add_if(m, condition, graph("Relu", ["input"], name + ".t"),
               graph("Reshape", ["input", "flat"], name + ".e"), name)
    add_if(m, is_fast, graph("Relu", ["input"], "either.t"), graph("Abs", ["input"], "either.e"), "either")
    open(path, "wb").write(m.bytes())

# torch.squeeze(y, 1) of what NonZero found: y is i64[1, 1, 2, at most 12].
def squeezing(path):
    m = Model("squeezing", 13)
    m.input("x", FLOAT, [3, 4])
    m.ints("front", [0, 1])
    y = m.op("Unsqueeze", [m.op("NonZero", ["x"], "at"), "front"], "y")
    size = m.op("Gather", [m.op("Shape", [y], "shape"), m.ints("one", 1)], "size")
    is_one = m.op("Equal", [size, "one"], "is_one")
    m.ints("second", [1])
    add_if(m, is_one, graph("Squeeze", [y, "second"], "t"), graph("Identity", [y], "e"), "z")
    open(path, "wb").write(m.bytes())

# Dims that are all called "?", as some exporters do.
m = Model("question", 13)
m.input("x", FLOAT, ["?", 3, "?", "?"])
m.op("Relu", ["x"], "y")
m.output("y", FLOAT, ["?", 3, "?", "?"])
open(sys.argv[1] + "/question.onnx", "wb").write(m.bytes())

# The input must have five numbers.
m = Model("picky", 13)
m.input("x", FLOAT, ["n"])
m.ints("five", [5])
m.op("Reshape", ["x", "five"], "all")
total = m.op("Cast", [m.op("ReduceSum", ["all"], "sum", keepdims=0)], "total", to=INT64)
first = m.op("Range", [m.ints("from", 0), total, m.ints("by", 1)], "first")
m.output("first", INT64, ["frames"])
open(sys.argv[1] + "/picky.onnx", "wb").write(m.bytes())

# As many frames as durations add up to; then as many again, as floats.
m = Model("spoken", 13)
m.input("x", FLOAT, ["n"])
total = m.op("Cast", [m.op("ReduceSum", ["x"], "sum", keepdims=0)], "total", to=INT64)
first = m.op("Range", [m.ints("from", 0), total, m.ints("by", 1)], "first")
count = m.op("Cast", [m.op("Size", [first], "size")], "count", to=FLOAT)
m.op("Range", [m.op("Cast", ["from"], "from.f", to=FLOAT), count, m.op("Cast", ["by"], "by.f", to=FLOAT)], "second")
m.op("Neg", ["second"], "y")
m.output("y", FLOAT, ["frames"])
open(sys.argv[1] + "/spoken.onnx", "wb").write(m.bytes())

squeezing(sys.argv[1] + "/squeezing.onnx")
detector(sys.argv[1] + "/dims.onnx", 1)
detector(sys.argv[1] + "/rate.onnx", 2)
P
  run plan "$work/grid.onnx"
  expect 3 SymbolsAreAskedForBeforeShapesThatVanishWithThem
  complains 'inputs have symbols without a value: batch, width'
  name=ShapesThatVanishAreNotAskedFor
  if grep -q -e '--shape' -e 'depends on data' -e 'also be needed' "$err"; then fail 'they are'; else pass; fi
  run plan "$work/grid.onnx" --bind batch=1,width=4
  expect 0 TheSymbolsMakeSuchAModelStatic
  run inspect "$work/grid.onnx"
  expect 0 InspectingAsksForSymbolsFirst
  says 'symbols without a value: give --bind NAME=N (2)'
  says 'data-dependent shapes, which the symbols above settle (1)'

  run plan "$work/question.onnx"
  expect 3 DimsCalledByAQuestionMarkAreUnnamed
  complains 'inputs have symbols without a value: x.0, x.2, x.3'
  run plan "$work/question.onnx" --bind 'x.0=1,?=8'
  expect 0 AQuestionMarkBindsTheUnnamedDimsThatAreLeft
  says '  symbols         x.0=1, x.2=8, x.3=8'
  run run "$work/question.onnx" --bind x.0=1,x.2=4,x.3=5 --random 1
  expect 0 SuchDimsNeedNotBeEqual
  says '  y  f32[1, 3, 4, 5]'

  run inspect "$work/spoken.onnx"
  expect 0 TheFewestSymbolsThatMakeAModelStaticAreListed
  says 'symbols without a value: give --bind NAME=N (2)'
  says '  n                        dim 0 of x'
  says '  first.0                  largest dim 0 of first, depends on data'
  says 'data-dependent shapes, which the symbols above settle (2)'
  run inspect "$work/spoken.onnx" --format json
  expect 0 JsonHasThemToo
  says '{"symbol": "n", "tensor": "x", "axis": 0, "depends_on_data": false}'
  says '{"symbol": "first.0", "tensor": "first", "axis": 0, "depends_on_data": true}]'
  says '"bind_suffices": true'
  run plan "$work/spoken.onnx"
  expect 3 APlanAsksForThemAtOnce
  complains 'inputs have symbols without a value: n'
  lists 'set each: --bind n=N'
  lists 'and the largest that you allow of what depends on data: --bind first.0=N'
  run plan "$work/spoken.onnx" --bind n=4
  expect 3 ADimThatFollowsFromAnotherIsNotAskedFor
  complains '1 tensor needs a shape, which depends on data; give the largest with --shape NAME=DIMS:'
  lists 'first (Range): dims of i64[?"first.0"] depend on data'
  lists 'or set dims alone: --bind first.0=N'
  name=ItIsNotListedEither
  if grep -q 'second' "$err"; then fail 'it is'; else pass; fi
  run plan "$work/spoken.onnx" --bind first.0=9
  expect 3 EachOfThemIsNeeded
  run inspect "$work/picky.onnx"
  expect 0 AModelThatRefusesTheTrialIsInspected
  says 'symbols without a value: give --bind NAME=N (1)'
  says '  n                        dim 0 of x'
  says 'data-dependent shapes while symbols have no value (1)'
  run plan "$work/picky.onnx"
  expect 3 ItsShapesMayBeNeeded
  lists '1 shape or condition may also be needed once these are given'
  run plan "$work/picky.onnx" --bind n=5
  expect 3 ItsShapesAreAskedForWhenTheyAre
  lists 'or set dims alone: --bind first.0=N'
  for given in '--bind n=4,first.0=9' '--bind n=4 --shape first=9'; do
    run run "$work/spoken.onnx" $given --random 1 --check
    expect 0 "TheyMakeTheModelStatic ($given)"
  done
  run inspect "$work/spoken.onnx" --bind n=4,first.0=9
  expect 0 NothingIsAskedForOnceAllIsGiven
  name=NothingIsAskedForOnceAllIsGiven
  if grep -q -e '--bind' -e 'depends on data' "$out"; then fail 'it is'; else pass; fi

  run plan "$work/squeezing.onnx"
  expect 0 AnExactDimOfAnUpperBoundedTensorDecidesAnIf
  run run "$work/squeezing.onnx" --random 1 --check
  expect 0 SuchAModelRuns
  says '  z  i64[1, 2, 12]'
  says 'the same bits as a run without '

  run plan "$work/dims.onnx"
  expect 3 UnnamedDimsAreAskedForWhereThereIsNoGraph
  complains 'inputs have symbols without a value: input.0, input.1'
  lists 'set each: --bind input.0=N --bind input.1=N'
  lists 'to choose branches that depend on an input: --value rate=VALUE'
  run inspect "$work/dims.onnx"
  expect 0 InspectingNamesUnnamedDims
  says 'symbols without a value: give --bind NAME=N (2)'
  says '  input                    f32[input.0, input.1]'
  says '  input.1                  dim 1 of input'
  says 'inputs that decide conditions: give --value NAME=VALUE (1)'
  says '  rate'
    name=LinesOfWhatIsMissingFitATerminal
  if LC_ALL=C.UTF-8 grep -q '.\{81\}' "$out"; then fail "a line is too long"; else pass; fi
  run inspect "$work/dims.onnx" --format json
  expect 0 JsonHasTheSymbolsWhereThereIsNoGraph
  says '"symbols": ["input.0", "input.1"]'
  says '{"symbol": "input.1", "tensor": "input", "axis": 1, "depends_on_data": false}'
  run plan "$work/dims.onnx" --bind input.0=1,input.1=4
  expect 0 BindingUnnamedDimsDecides
  run plan "$work/rate.onnx" --bind input.0=1,input.1=4
  expect 3 AnInputThatDecidesIsAskedFor
  complains '1 condition without a known value; give --value rate=VALUE:'
  lists 'by_rate (If): the value of input "rate" decides between branches that make f32[1, 4] and f32[4]'
  run plan "$work/rate.onnx" --bind input.0=1,input.1=4 --value rate=16000
  expect 0 ItsValueDecides
else
  skip "no python3: no models that lack something"
fi

# Weights in a file that is not there
if command -v python3 >/dev/null 2>&1; then
  python3 - "$work/external.onnx" <<'P'
import sys
def field(number, payload):
    if isinstance(payload, int):
        return bytes([number << 3, payload])
    payload = payload.encode() if isinstance(payload, str) else payload
    return bytes([number << 3 | 2, len(payload)]) + payload
def value(name):
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 2)))))
place = field(1, "location") + field(2, "gone.bin")
weight = field(1, 2) + field(2, 1) + field(8, "w") + field(13, place) + field(14, 1)
node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")
graph = field(1, node) + field(2, "g") + field(5, weight) + field(11, value("x"))
model = field(1, 8) + field(7, graph + field(12, value("y"))) + field(8, field(2, 13))
open(sys.argv[1], "wb").write(model)
P
  run plan "$work/external.onnx"
  expect 0 APlanNeedsNoWeights
  complains 'note: '
  complains 'tensor "w", external data "gone.bin": '
  complains 'no such file'
  for words in 'run' 'run --random 1' "export -o $work/external --random 1"; do
    # shellcheck disable=SC2086
    run ${words%% *} "$work/external.onnx" ${words#"${words%% *}"}
    expect 3 "AModelWithoutItsWeightsDoesNotRun: $words"
    complains ' no data:'
    lists "param 'w' f32[2]"
    lists 'tensor "w", external data "gone.bin": '
    lists 'run its text (stowage fmt)'
  done
  printf '\0\0\0\0\0\0\0\0' >"$work/w.raw"
  run run "$work/external.onnx" --random 1 --input w="$work/w.raw"
  expect 0 WeightsCanBeGiven
  run fmt "$work/external.onnx" -o "$work/external.stow"
  run run "$work/external.stow" --random 1
  expect 0 ATextRunsWithRandomWeights
  says 'and 1 weight that the file has no data for'
  run inspect "$work/external.onnx"
  expect 0 InspectingNeedsNoWeights
  says 'weights whose file cannot be read (1)'
fi

run plan "$examples/tiny.stow" --bind-rest 1
expect 2 OptionsForModelsAreRefusedForTexts
complains 'for ONNX models'

# Bad files
head -c 1000 "$examples/digits.onnx" >"$work/cut.onnx"
run plan "$work/cut.onnx"
expect 3 ACutModelIsRefused
complains "cut.onnx: byte 24: the file is incomplete: it needs at least 37"
complains "bytes and has 1000"
head -c 1000 "$examples/digits.onnx" | "$stowage" plan - >"$out" 2>"$err"
code=$?
expect 3 ACutModelInAPipe
complains "<stdin>: byte 24: the file is incomplete: it needs at least"
: >"$work/empty.onnx"
run plan "$work/empty.onnx"
expect 3 AnEmptyModelIsRefused
complains 'empty.onnx: not an ONNX model: the file is empty'
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >"$work/pointer.onnx"
run plan "$work/pointer.onnx"
expect 3 APointerIsNoModel
complains 'pointer.onnx: not an ONNX model: it is a Git LFS pointer; run git lfs pull'
printf '\010' >"$work/one.onnx"
run plan "$work/one.onnx"
expect 3 OneByteIsAnIncompleteModel
complains 'one.onnx: byte 1: the file is incomplete'
head -c 20 "$examples/digits.onnx" >"$work/twenty.onnx"
run plan "$work/twenty.onnx"
expect 3 AModelThatEndsBeforeItsGraph
complains 'twenty.onnx: byte 0: the file is incomplete: it has no graph'
cp "$examples/buffers.csv" "$work/rows.onnx"
for arguments in "inspect $examples/buffers.csv" "inspect $work/rows.onnx" "plan $work/rows.onnx"; do
  run $arguments
  expect 3 "RowsArePointedToSolve ($arguments)"
  complains ": buffers as CSV, not a graph; place them with: stowage solve"
done
echo 'hello' >"$work/hello.onnx"
run plan "$work/hello.onnx"
expect 3 ATextIsNoModelWhateverItsName
complains 'hello.onnx: not an ONNX model: the first byte is 0x68; expected an IR version (0x08)'
awk 'BEGIN { for (i = 0; i < 400; ++i) printf "%c", 128 + i * 37 % 120 }' >"$work/noise.onnx"
cp "$work/noise.onnx" "$work/noise"
for command in plan inspect run; do
  run "$command" "$work/noise.onnx"
  expect 3 "NoiseIsNoModel ($command)"
  complains 'noise.onnx: not an ONNX model: the first byte is 0x'
  run "$command" "$work/noise"
  expect 3 "NoiseIsNothing ($command)"
  complains 'noise: neither an ONNX model, which begins with its IR version (byte 0x08), nor a graph as text'
done
for command in plan run fmt export; do
  options=
  [ "$command" != export ] || options="-o $work/none"
  # shellcheck disable=SC2086  # words
  run "$command" "$examples/buffers.csv" $options
  expect 3 "BuffersAreNoGraph ($command)"
  complains 'buffers.csv: buffers as CSV, not a graph; place them with: stowage solve'
done

# Dims of 0: a cache may have no elements, a result without any is noted
notes() {
  if grep -qF -e "$1" "$err" && [ "$(wc -l <"$err")" -eq 1 ]; then pass; else fail "standard error lacks: $1"; fi
}
run plan "$examples/encoder.onnx" --bind batch=0,length=4
expect 0 AnEmptyBatch
notes "stowage: note: $examples/encoder.onnx: with batch=0, 1 of 1 output has no elements: 'encoded' is f32[0, 4, 32]"
run plan "$examples/encoder.onnx" --bind-rest 0
expect 0 EmptyByTheRest
notes "with --bind-rest 0, 1 of 1 output has no elements"
run run "$examples/encoder.onnx" --bind batch=0,length=4 --random 1
expect 0 AnEmptyBatchRuns
notes "with batch=0, 1 of 1 output has no elements"
run plan "$examples/decode.onnx" --bind batch=1,past=0
expect 0 ACacheOfLengthZero
if [ -s "$err" ]; then fail "a note of what is as it should be"; else pass; fi
write_graph empty '%0 = input "x" : f32[?n, 0]' '%1 "y" = relu(%0) : f32[?n, 0]' 'return %1'
run plan "$work/empty.stow" --bind n=2
expect 0 TheFileItselfSaysZero
if [ -s "$err" ]; then fail "a note of what the file says"; else pass; fi
run plan "$work/missing.onnx"
expect 5 AMissingModel
run plan "$examples/digits.onnx" -o "$examples/digits.onnx" --format json
expect 2 AModelIsNotOverwritten
run fmt "$examples/digits.onnx" -o "$examples/digits.onnx"
expect 2 NorByItsText

finish
