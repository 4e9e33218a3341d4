# `stowage solve --certificate`: what is written is proven by a program that shares no code with the
# command, and refused if it is damaged.
. "$(dirname "$0")/harness.sh"
csv=$examples/buffers.csv
verifier=$root/bench/verify_certificate.py

run solve "$csv" --certificate "$work/c.json"
expect 0 ACertificateIsWritten
says "15 buffers"
for text in '"stowage_certificate": 1' '"height": 80896' '"certified_bound": 80896' '"step": 8' \
  '"row": 5, "id": "wide_a", "low": 0, "high": 32768, "bytes": 32768'; do
  if grep -qF -e "$text" "$work/c.json"; then pass; else fail "the certificate lacks $text"; fi
done
cp "$work/c.json" "$work/first.json"
run solve "$csv" --certificate "$work/c.json" --format csv
expect 0 SameBytes
same "$work/c.json" "$work/first.json"
run solve "$csv" --certificate "$work/c.json" --capacity 1
expect 1 BoundsAreProvenWhereNothingFits
if grep -qF '"certified_bound": 80896' "$work/c.json"; then pass; else fail "no bound"; fi
run solve "$csv" --certificate -
expect 2 StandardOutputIsTaken
complains "--certificate: expected a file; standard output has the summary"
cp "$csv" "$work/input.csv"
run solve "$work/input.csv" --certificate "$work/input.csv"
expect 2 TheInputIsNotReplaced
complains "--certificate: '$work/input.csv' is the input file"
same "$work/input.csv" "$csv"
run solve "$csv" --certificate "$work/new" -o "$work/new"
expect 2 OneFileForOneThing
complains "--certificate and --output both write '$work/new'"
run solve "$csv" "$work/input.csv" --certificate "$work/c.json"
expect 2 ACertificateForOneFile
complains "--certificate takes one FILE, not 2"
run solve "$csv" --certificate "$work/no/such/directory"
expect 5 MissingDirectory
if [ -s "$out" ]; then fail "something was printed"; else pass; fi

if ! command -v python3 >/dev/null 2>&1; then
  skip "no python3: certificates are not verified"
  finish
fi
run solve "$csv" --certificate "$work/c.json" -o "$work/placed.csv"
python3 -B "$verifier" "$csv" "$work/c.json" "$work/placed.csv" >"$out" 2>"$err"
code=$?
expect 0 Verified
says "proven: no placement is lower than 80896"
says "proven: the placement is optimal"
python3 -B "$verifier" "$csv" "$work/c.json" >"$out" 2>"$err"
code=$?
expect 0 VerifiedWithoutAPlacement
says "not checked: the height 80896"
sed 's/"certified_bound": 80896/"certified_bound": 80897/' "$work/c.json" >"$work/high.json"
python3 -B "$verifier" "$csv" "$work/high.json" >"$out" 2>"$err"
code=$?
expect 1 Refused
if grep -qF "refused: it does not hold that the certified bound is 80897" "$err"; then pass; else
  fail "not the reason"
fi
mkdir "$work/damaged"
python3 -B "$root/tests/cli/check_certificate.py" "$stowage" "$verifier" "$work/damaged" >"$out" 2>"$err"
code=$?
expect 0 EveryDamageIsRefused
cat "$out"
finish
