# Inputs and outputs of `stowage run`: every kind of file, and every error in it.
. "$(dirname "$0")/harness.sh"

# Floats -1, 1, 2, 3, and their bytes
one='\000\000\200\077'
two='\000\000\000\100'
three='\000\000\100\100'
minus='\000\000\200\277'

# npy FILE DESCR FORTRAN SHAPE DATA: data is for printf
npy() {
  npy_header="{'descr': '$2', 'fortran_order': $3, 'shape': $4, }"
  {
    printf '\223NUMPY\001\000'
    # shellcheck disable=SC2059  # the format is made here
    printf "\\$(printf %03o ${#npy_header})\\000"
    printf '%s' "$npy_header"
    # shellcheck disable=SC2059  # bytes
    printf "$5"
  } >"$1"
}

# pb FILE NAME DIM DATA: a TensorProto of DIM (1 to 9) floats
pb() {
  {
    # shellcheck disable=SC2059  # bytes
    printf "\\010\\00$3\\020\\001\\102\\00${#2}$2\\112\\$(printf %03o $((4 * $3)))$4"
  } >"$1"
}

write_graph pair '%0 = input "a" : f32[2]' '%1 = input "b" : f32[2]' '%2 "sum" = add(%0, %1) : f32[2]' 'return %2'
pair=$work/pair.stow
npy "$work/a.npy" '<f4' False '(2,)' "$one$two"
npy "$work/b.npy" '<f4' False '(2,)' "$two$three"
pb "$work/b.pb" b 2 "$two$three"
# shellcheck disable=SC2059  # bytes
printf "$two$three" >"$work/b.bin"

# Every kind of file
for b in b.npy b.pb b.bin; do
  run run "$pair" --input a="$work/a.npy" --input b="$work/$b"
  expect 0 "FilesOfEveryKind ($b)"
  says "[3, 5]"
  says_not "random"
done
"$stowage" run "$pair" --input a="$work/a.npy" --input b=- <"$work/b.bin" >"$out" 2>"$err"
code=$?
expect 0 StandardInput
says "[3, 5]"
write_graph two '%0 = input "x" : f32[2]' '%1 "a" = relu(%0) : f32[2]' '%2 "b" = add(%0, %1) : f32[2]' 'return %1, %2'
run run "$work/two.stow" --input x="$work/a.npy" --outputs "$work/ab.npz"
expect 0 OutputsAsAnArchive
run run "$pair" --inputs "$work/ab.npz"
expect 0 InputsFromAnArchive
says "[3, 6]"
run run "$pair" --input a="$work/ab.npz" --input b="$work/b.npy"
expect 0 OneArrayOfAnArchive
says "[3, 5]"
mkdir "$work/in"
cp "$work/a.npy" "$work/b.pb" "$work/in"
run run "$pair" --inputs "$work/in"
expect 0 InputsFromAFolder
says "[3, 5]"
run run "$pair" --inputs "$work/in" --input b="$work/a.npy"
expect 0 ANamedInputComesFirst
says "[2, 4]"
run run "$pair" --inputs "$work/ab.npz" --random 1
expect 0 NothingIsLeftForRandomNumbers
says_not "random"
cp "$work/a.npy" "$work/in/c.npy"
run run "$pair" --inputs "$work/in"
expect 0 MoreThanIsNeeded
if grep -qF "ignored 'c', which is not an input" "$err"; then pass; else fail "no note of it"; fi

# Orders of bytes and elements
write_graph square '%0 = input "x" : f32[2, 2]' '%1 "y" = relu(%0) : f32[2, 2]' 'return %1'
npy "$work/c.npy" '<f4' False '(2, 2)' "$one$two$three$one"
npy "$work/f.npy" '<f4' True '(2, 2)' "$one$three$two$one"
npy "$work/be.npy" '>f4' False '(2, 2)' '\077\200\000\000\100\000\000\000\100\100\000\000\077\200\000\000'
for file in c f be; do
  run run "$work/square.stow" --input x="$work/$file.npy" --output y="$work/$file.out.npy"
  expect 0 "OrdersOfBytesAndElements ($file)"
  says "[1, 2, 3, 1]"
  same "$work/c.out.npy" "$work/$file.out.npy"
done

# Outputs
run run "$work/two.stow" --input x="$work/a.npy" -o a="$work/a.out.npy" --output b="$work/b.out" \
  --outputs "$work/folder"
expect 0 Outputs
same "$work/a.out.npy" "$work/folder/a.npy"
# shellcheck disable=SC2059  # bytes
printf "$two\\000\\000\\200\\100" >"$work/raw"
same "$work/b.out" "$work/raw"
run run "$work/square.stow" --input x="$work/a.out.npy"
expect 3 WhatWasWrittenIsRead
complains "needs f32[2, 2], but the file has f32[2]"
run run "$work/two.stow" --input x="$work/a.npy" --outputs "$work/ab2.npz"
same "$work/ab.npz" "$work/ab2.npz"
# Names become names of files that say which they were, whatever they hold, and are read back
write_graph names '%0 = input "x" : f32[2]' '%1 "a/b" = relu(%0) : f32[2]' '%2 "a_b" = neg(%0) : f32[2]' \
  '%3 "../../up" = abs(%0) : f32[2]' '%4 "/etc/x" = exp(%0) : f32[2]' '%5 "50% \n\x1b[1m\"" = sqrt(%0) : f32[2]' \
  '%6 "output_8" = log(%0) : f32[2]' '%7 ".c" = sin(%0) : f32[2]' '%8 "=1+2,\\ü" = cos(%0) : f32[2]' \
  'return %1, %2, %3, %4, %5, %6, %7, %8, %1'
run run "$work/names.stow" --input x="$work/a.npy" --outputs "$work/deep/er" --format json
expect 5 NoFolderForTheFolder
mkdir "$work/deep"
run run "$work/names.stow" --input x="$work/a.npy" --outputs "$work/deep/er" --format json
expect 0 NamesThatAreNoFiles
(cd "$work/deep/er" && LC_ALL=C ls -A) >"$work/names.got"
cat >"$work/names.expected" <<'END'
%2E.%2F..%2Fup.npy
%2Ec.npy
%2Fetc%2Fx.npy
50%25 %0A%1B[1m%22.npy
=1+2,%5Cü.npy
a%2Fb.npy
a_b.npy
output_8.npy
output_8_.npy
END
same "$work/names.got" "$work/names.expected"
if [ "$(ls -A "$work/deep")" = er ]; then pass; else fail "files outside of the folder"; fi
same "$work/deep/er/a%2Fb.npy" "$work/deep/er/output_8_.npy"
differ "$work/deep/er/a%2Fb.npy" "$work/deep/er/output_8.npy"
write_graph again '%0 = input "a/b" : f32[2]' '%1 = input "50% \n\x1b[1m\"" : f32[2]' '%2 = input "../../up" : f32[2]' \
  '%3 "s" = add(%0, %1) : f32[2]' '%4 "t" = add(%3, %2) : f32[2]' 'return %4'
run run "$work/again.stow" --inputs "$work/deep/er"
expect 0 NamesOfFilesAreReadBack
says "[3, 5.41421]"
# … in archives where there are control characters
run run "$work/names.stow" --input x="$work/a.npy" --outputs "$work/names.npz"
expect 0 NamesInArchives
if LC_ALL=C grep -q "$(printf '\033')" "$work/names.npz"; then fail "a control character"; else pass; fi
if grep -q '50%25 %0A%1B\[1m%22.npy' "$work/names.npz"; then pass; else fail "no escaped name"; fi
run run "$work/again.stow" --inputs "$work/names.npz"
expect 0 NamesInArchivesAreReadBack
says "[3, 5.41421]"
# … and where a name could be taken for one that was escaped
write_graph percent '%0 = input "x" : f32[2]' '%1 "a%0Ab" = relu(%0) : f32[2]' \
  '%2 "50%" = neg(%0) : f32[2]' 'return %1, %2'
run run "$work/percent.stow" --input x="$work/a.npy" --outputs "$work/percent.npz"
expect 0 NamesThatLookEscaped
write_graph percents '%0 = input "a%0Ab" : f32[2]' '%1 = input "50%" : f32[2]' \
  '%2 "s" = add(%0, %1) : f32[2]' 'return %2'
run run "$work/percents.stow" --inputs "$work/percent.npz"
expect 0 NamesThatLookEscapedAreReadBack
# Names that are too long for files are cut, and stay distinct
long=$(printf '%0260d' 0)
write_graph long '%0 = input "x" : f32[2]' "%1 \"${long}a\" = relu(%0) : f32[2]" \
  "%2 \"${long}b\" = neg(%0) : f32[2]" "%3 \"$(printf '%0251d' 0)\" = abs(%0) : f32[2]" \
  "%4 \"$(printf '%0250d' 0)/\" = exp(%0) : f32[2]" "%5 \"$(printf '%0247d' 0)ü$long\" = exp(%0) : f32[2]" \
  'return %1, %2, %3, %4, %5'
run run "$work/long.stow" --input x="$work/a.npy" --outputs "$work/long"
expect 0 LongNames
(cd "$work/long" && LC_ALL=C ls -A) >"$work/long.got"
cut=$(printf '%0248d' 0)
printf '%s\n' "${cut}%~0.npy" "${cut}%~1.npy" "${cut}%~3.npy" "$(printf '%0251d' 0).npy" \
  "$(printf '%0247d' 0)%~4.npy" | LC_ALL=C sort >"$work/long.expected"
same "$work/long.got" "$work/long.expected"
run run "$work/two.stow" --input x="$work/a.npy" --output a="$work/a.pb"
expect 2 NoOutputsAsPb
run run "$work/two.stow" --input x="$work/a.npy" --output a="$work/none/a.npy"
expect 5 NoFolderForIt
complains "none/a.npy"
write_graph half '%0 = input "x" : bf16[2]' '%1 "y" = relu(%0) : bf16[2]' 'return %1'
run run "$work/half.stow" --random 1 --output y="$work/y.npy"
expect 3 NoSuchTypeInNpy
complains "no type for bf16"
if [ -e "$work/y.npy" ]; then fail "a file was written"; else pass; fi
run run "$work/half.stow" --random 1 --output y="$work/y.raw"
expect 0 ButAsRawBytes

# Symbols from shapes
write_graph symbol '%0 = input "x" : f32[?n, 2]' '%1 = input "z" : f32[?n, ?m]' \
  '%2 "y" = relu(%0) : f32[?n, 2]' '%3 "w" = relu(%1) : f32[?n, ?m]' 'return %2, %3'
npy "$work/z.npy" '<f4' False '(2, 1)' "$one$two"
run run "$work/symbol.stow" --input x="$work/c.npy" --input z="$work/z.npy"
expect 0 SymbolsFromShapes
says "w  f32[2, 1]"
npy "$work/z3.npy" '<f4' False '(3, 1)' "$one$two$three"
run run "$work/symbol.stow" --input x="$work/c.npy" --input z="$work/z3.npy"
expect 3 ShapesThatDisagree
complains "'n' is 2 by"
complains "3 by"
run run "$work/symbol.stow" --input x="$work/c.npy" --random 1
expect 3 ASymbolThatNothingSays
complains "m"
run run "$work/symbol.stow" --input x="$work/c.npy" --bind m=3 --random 1
expect 0 TheRestIsBound
says "w  f32[2, 3]"
run run "$work/symbol.stow" --input x="$work/c.npy" --bind m=3,n=5 --random 1
expect 3 WhatIsBoundHolds
complains "'x' needs f32[5, 2], but the file has f32[2, 2]"
run run "$examples/encoder.onnx" --random 3 --bind batch=2,length=3 --outputs "$work/e.npz" --format json
expect 0 AModelWithSymbols
if command -v python3 >/dev/null 2>&1; then
  input=$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(d["given"][0]["name"])' "$out")
  python3 - "$work/in.npy" "$out" <<'END'
import json, struct, sys
d = json.load(open(sys.argv[2]))["given"][0]
descr, code = {"i64": ("<i8", "q"), "f32": ("<f4", "f")}[d["dtype"]]
count = 1
for dim in d["dims"]:
    count *= dim
header = repr({"descr": descr, "fortran_order": False, "shape": tuple(d["dims"])}).encode()
with open(sys.argv[1], "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    f.write(struct.pack("<%d%s" % (count, code), *[i % 5 for i in range(count)]))
END
  run run "$examples/encoder.onnx" --input "$input=$work/in.npy"
  expect 0 SymbolsOfAModelFromShapes
  says "encoded  f32[2, 3, 32]"
else
  skip "no python3: no array for a model is made"
fi

# Missing, too many, wrong
run run "$pair"
expect 3 NothingIsGiven
complains "2 values have no data"
lists "input 'a' f32[2]"
lists "input 'b' f32[2]"
lists "--random SEED"
run run "$pair" --input a="$work/a.npy"
expect 3 OneIsMissing
complains "1 value has no data"
lists "input 'b' f32[2]"
write_graph weighted '%0 = input "x" : f32[2]' '%1 = param "w" : f32[2]' '%2 "y" = mul(%0, %1) : f32[2]' 'return %2'
run run "$work/weighted.stow" --input x="$work/a.npy"
expect 3 AParamWithoutData
lists "param 'w' f32[2]"
run fmt "$examples/digits.onnx" -o "$work/digits.stow"
run run "$work/digits.stow"
expect 3 TheTextOfAModelHasNoWeights
lists "param 'fc.bias' f32[10]"
lists "a .stow file has no weights; run the model 'digits.onnx' instead"
run run "$work/weighted.stow" --input x="$work/a.npy" --input w="$work/b.npy"
expect 0 DataForAParam
says "[2, 6]"
run run "$pair" --input c="$work/a.npy" --random 1
expect 2 NoSuchInput
complains "unknown input 'c'"
lists "input 'a' f32[2]"
npy "$work/double.npy" '<f8' False '(2,)' '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
run run "$pair" --random 1 --input a="$work/double.npy"
expect 3 AnotherElementType
complains "double.npy: input 'a' needs f32[2], but the file has f64[2]"
run run "$pair" --random 1 --input a="$work/c.npy"
expect 3 AnotherShape
complains "needs f32[2], but the file has f32[2, 2]"
printf 'abc' >"$work/short"
run run "$pair" --random 1 --input a="$work/short"
expect 3 TooFewRawBytes
complains "f32[2] 'a' needs 8 bytes, but the file has 3"
run run "$pair" --random 1 --input a="$work/none.npy"
expect 5 NoSuchFile
complains "none.npy"
run run "$pair" --random 1 --input a="$work/ab.npz" --input c="$work/ab.npz"
expect 3 NoSuchArray
complains "no array 'c'"
run run "$pair" --random 1 --inputs "$work/a.npy"
expect 2 NotAFileOfManyArrays
mkdir "$work/empty"
run run "$pair" --random 1 --inputs "$work/empty"
expect 3 AnEmptyFolder
run run "$pair" --random 1 --inputs "$work/nowhere.npz"
expect 5 NoSuchArchive
for descr in '<f3' '|O' '<U2'; do
  npy "$work/bad.npy" "$descr" False '(2,)' "$one$two"
  run run "$pair" --random 1 --input a="$work/bad.npy"
  expect 3 "UnknownTypes ($descr)"
  complains "bad.npy: byte "
done
npy "$work/bad.npy" '<V2' False '(2,)' 'abcd'
run run "$pair" --random 1 --input a="$work/bad.npy"
expect 3 TypesWithoutAName
complains "bf16"
head -c 70 "$work/a.npy" >"$work/cut.npy"
run run "$pair" --random 1 --input a="$work/cut.npy"
expect 3 ACutFile
complains "cut.npy: byte 67: f32[2] needs 8 bytes, but there are 3"
head -c 100 "$work/ab.npz" >"$work/cut.npz"
run run "$pair" --random 1 --inputs "$work/cut.npz"
expect 3 ACutArchive
complains "cut.npz: byte 100"
head -c 12 "$work/b.pb" >"$work/cut.pb"
run run "$pair" --random 1 --input a="$work/cut.pb"
expect 3 ACutTensor
complains "cut.pb: byte "
cp "$work/a.npy" "$work/a.npz"
run run "$pair" --random 1 --inputs "$work/a.npz"
expect 3 NotAnArchive
complains "not a .npz file"

# No more is read, or unpacked, than fits. Sanitizers need more than the limit to start.
ln -s /dev/zero "$work/endless.npy"
ln -s /dev/zero "$work/endless.raw"
run run "$pair" --random 1 --input a="$work/endless.npy"
expect 3 ADeviceIsNoArray
complains "endless.npy: byte 0: not a .npy file"
for ending in npz pb; do
  ln -s /dev/zero "$work/endless.$ending"
  run run "$pair" --random 1 --input a="$work/endless.$ending"
  expect 3 "ADeviceIsRefusedAtOnce ($ending)"
  complains "endless.$ending: a device, not a file or a pipe"
done
run run "$pair" --random 1 --input a="$work/endless.raw"
expect 3 MoreRawBytesThanEnough
complains "f32[2] 'a' needs 8 bytes, but the file has at least 9"
write_graph huge '%0 = input "x" : f32[?n]' '%1 "y" = relu(%0) : f32[?n]' '%2 "z" = neg(%0) : f32[?n]' 'return %1, %2'
run run "$work/huge.stow" --bind n=1000000000 --input x="$work/endless.raw"
expect 3 APipeOrDeviceHasALimit
complains "endless.raw: larger than 2048 MiB, the limit for pipes and devices; save it to a file first"
run run "$work/huge.stow" --bind n=2 --random 1 -o y="$work/twice.npy" -o z="$work/twice.npy"
expect 2 OutputsHaveFilesOfTheirOwn
complains "--output: two outputs cannot both be written to '$work/twice.npy'"
mkdir "$work/nameless" && cp "$work/a.npy" "$work/nameless/.npy"
run run "$work/huge.stow" --bind n=2 --inputs "$work/nameless"
expect 3 AnArrayWithoutANameIsNobodys
lists "input 'x' f32[2]"
mkfifo "$work/pipe.npy"
cat "$work/a.npy" >"$work/pipe.npy" &
run run "$pair" --input a="$work/pipe.npy" --input b="$work/b.npy"
expect 0 AnArrayInAPipe
says "[3, 5]"
wait
{ cat "$work/a.npy" && printf x; } >"$work/pipe.npy" &
run run "$pair" --input a="$work/pipe.npy" --input b="$work/b.npy"
expect 3 APipeWithMoreThanItsHeaderSays
complains "pipe.npy: byte 67: f32[2] needs 8 bytes, but there are 9"
wait
if command -v python3 >/dev/null 2>&1 && (ulimit -v 300000 && "$stowage" --version) >/dev/null 2>&1; then
  # A member of 400 MB in 400 kB, whose header says 8 bytes or tells the truth
  python3 - "$work" <<'END'
import struct, sys, zipfile, zlib
def member(path, count, size):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": (count,)}).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z, z.open("a.npy", "w") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for _ in range(size >> 20):
            f.write(bytes(1 << 20))
member(sys.argv[1] + "/lies.npz", 2, 400 << 20)
member(sys.argv[1] + "/large.npz", 100 << 20, 400 << 20)
END
  for file in lies large; do
    (ulimit -v 300000 && "$stowage" run "$pair" --random 1 --inputs "$work/$file.npz") >"$out" 2>"$err"
    code=$?
    expect 3 "ArchivesAreUnpackedWhereTheyFit ($file)"
    [ "$file" = lies ] || complains "large.npz: input 'a' needs f32[2], but the file has f32[104857600]"
    [ "$file" = large ] || complains "lies.npz: entry 'a.npy': byte 65: f32[2] needs 8 bytes, but there are 419430400"
  done
  write_graph other '%0 = input "x" : f32[2]' '%1 "y" = relu(%0) : f32[2]' 'return %1'
  (ulimit -v 300000 && "$stowage" run "$work/other.stow" --random 1 --inputs "$work/large.npz") >"$out" 2>"$err"
  code=$?
  expect 0 WhatNobodyNeedsStaysPacked
  write_graph wide '%0 = input "a" : f32[?n]' '%1 "y" = relu(%0) : f32[?n]' 'return %1'
  (ulimit -v 300000 && "$stowage" run "$work/wide.stow" --inputs "$work/large.npz") >"$out" 2>"$err"
  code=$?
  expect 5 WhatIsNeededMayBeTooMuch
  complains "no memory for f32[104857600]"
else
  skip "no python3, or the address space cannot be limited: large archives"
fi

# Test data
mkdir "$work/set"
pb "$work/set/input_0.pb" a 2 "$one$two"
pb "$work/set/input_1.pb" b 2 "$two$three"
pb "$work/set/output_0.pb" sum 2 "$three\\000\\000\\240\\100"
run run "$pair" --expect "$work/set"
expect 0 AsExpected
says "as expected: largest error 0, relative 0"
pb "$work/set/output_0.pb" sum 2 "$three\\000\\020\\240\\100" # 5.00195
run run "$pair" --expect "$work/set"
expect 0 WithinTheTolerance
says "largest error 0.00195, relative 0.00039"
run run "$pair" --expect "$work/set" --rtol 1e-4
expect 1 OutsideTheTolerance
complains "output 'sum' is not as expected"
says "not as expected"
says "1 wrong, worst at 1"
run run "$pair" --expect "$work/set" --rtol 0 --atol 0.01
expect 0 AnAbsoluteTolerance
run run "$pair" --expect "$work/set" --rtol 0 --format json
expect 1 ExpectationsInJson
says '"expected": {"pass": false, "type_same": true, "wrong": 1, '
pb "$work/set/output_0.pb" sum 3 "$three$one$one"
run run "$pair" --expect "$work/set"
expect 1 AnotherTypeIsExpected
says "it should be f32[3]"
pb "$work/set/output_1.pb" more 2 "$one$one"
run run "$pair" --expect "$work/set"
expect 3 MoreOutputsAreExpected
complains "expected 2 outputs"
rm "$work/set/output_1.pb"
pb "$work/set/input_2.pb" c 2 "$one$one"
run run "$pair" --expect "$work/set"
expect 3 MoreInputsThanThereAre
complains "input_2.pb is more than the model has inputs"
run run "$pair" --expect "$work/nowhere"
expect 5 NoSuchFolder
run run "$pair" --expect "$work/empty"
expect 3 NothingToCompareWith
complains "output_0.pb"

# An array for an input that does not exist tells no symbols
printf 'bytes' >"$work/raw"
run run "$examples/encoder.onnx" --input "tokenz=$work/raw"
expect 3 AMisspeltInputOfAModelWithSymbols
complains "symbols without a value: batch, length"
lists "unknown input 'tokenz'"
finish
