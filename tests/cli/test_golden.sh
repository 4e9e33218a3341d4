# A walk through the golden plans with the command itself, bytes compared. The library's own test compares all
# of them; here every preset is met, at one alignment.
. "$(dirname "$0")/harness.sh"
golden=$root/tests/golden/rlx

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

# plan_of FILE VARIANT: the plan in the section that names the variant
plan_of() {
  awk -v variant="$2" '
    /^## / { inside = index($0 " ", " " variant " ") > 0; next }
    inside && /^# / { print substr($0, 3) }' "$1"
}

for file in "$golden"/*.stow; do
  graph=$(basename "$file" .stow)
  case $graph in *_[1-9]) continue ;; esac
  for variant in $(sed -n 's/^## //p' "$file"); do
    case $variant in *.64) ;; *) continue ;; esac
    run plan "$file" $(options_of "${variant%.64}") --align 64 --format report
    expect 0 "$graph: $variant"
    plan_of "$file" "$variant" >"$work/expected"
    same "$out" "$work/expected"
  done
done
if [ "$checks" -lt 200 ]; then fail "only $checks checks: are the golden plans there?"; fi
finish
