# The command reproduces golden plans byte for byte; graph and options come from the file's name.
# The library's tests compare all of them; this one covers every preset, at one alignment.
. "$(dirname "$0")/harness.sh"
golden=$root/tests/golden/rlx
if [ ! -d "$golden" ]; then
  echo "SKIP: no golden plans in $golden"
  exit 77
fi

options_of() {
  case $1 in
    rlx) echo "--preset rlx" ;;
    rlx-in-order) echo "--preset rlx --no-pin-output-ancestors" ;;
    rlx-no-reuse) echo "--preset rlx --no-reuse" ;;
    rlx-no-params) echo "--preset rlx --no-pin-output-ancestors --no-params" ;;
    rlx-no-io) echo "--preset rlx --no-pin-output-ancestors --no-inputs --no-constants" ;;
    rlx-f32) echo "--preset rlx --no-pin-output-ancestors --f32-uniform" ;;
    rlx-0.2.2) echo "--preset rlx-0.2.2" ;;
    rlx-0.2.2-f32) echo "--preset rlx-0.2.2 --f32-uniform" ;;
  esac
}

for plan in "$golden"/*.plan; do
  base=$(basename "$plan" .plan)
  graph=${base%%.*}
  rest=${base#*.}
  align=${rest##*.}
  preset=${rest%.*}
  case $graph in *_[1-9]) continue ;; esac
  case $align in 64) ;; *) continue ;; esac
  run plan "$golden/$graph.stow" $(options_of "$preset") --align "$align" --format report
  expect 0 "$base"
  same "$out" "$plan"
done
finish
