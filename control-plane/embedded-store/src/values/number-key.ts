import { type Decimal128, Long, MongoInvalidArgumentError } from 'mongodb';
import type { KeyWriter } from './key-writer.ts';

/** numerator / denominator, exactly. */
type Fraction = { numerator: bigint; denominator: bigint };

const LESS_THAN_ITS_DOUBLE = 0x40;
const A_DOUBLE = 0x80;
const MORE_THAN_ITS_DOUBLE = 0xc0;
const RANGE_OF_EXPONENTS = 200;

/**
 * Numbers of all BSON types in one order: the nearest double, then what that double is off by. 64-bit integers beyond
 * 2^53 and decimals are therefore ordered exactly, and a value that is a double takes nine bytes.
 */
export function writeNumber(writer: KeyWriter, value: number | Long | Decimal128): void {
  if (typeof value === 'number') {
    writer.double(value);
    writer.byte(A_DOUBLE);
  } else if (value instanceof Long) writeExact(writer, { numerator: value.toBigInt(), denominator: 1n });
  else writeDecimal(writer, value.toString());
}

function writeDecimal(writer: KeyWriter, text: string): void {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]?\d+))?$/.exec(text);
  if (!parts) {
    writeNumber(writer, Number(text)); // NaN, Infinity, -Infinity
    return;
  }
  const [, sign, whole, decimals = '', exponent = '0'] = parts;
  const digits = BigInt(`${sign}${whole}${decimals}`);
  const power = Number(exponent) - decimals.length;
  if (digits !== 0n && Math.abs(power + String(digits).length) > RANGE_OF_EXPONENTS) {
    throw new MongoInvalidArgumentError(`a Decimal128 outside the range of a double cannot be compared: ${text}`);
  }
  const scale = digits === 0n ? 1n : 10n ** BigInt(Math.abs(power));
  writeExact(writer, power < 0 ? { numerator: digits, denominator: scale } : fraction(digits * scale));
}

function writeExact(writer: KeyWriter, value: Fraction): void {
  const nearest = toDouble(value);
  const off = minus(value, nearest);
  writer.double(nearest);
  if (off.numerator === 0n) {
    writer.byte(A_DOUBLE);
    return;
  }
  writer.byte(off.numerator < 0n ? LESS_THAN_ITS_DOUBLE : MORE_THAN_ITS_DOUBLE);
  const first = toDouble(off);
  writer.double(first);
  writer.double(toDouble(minus(off, first)));
}

const fraction = (integer: bigint): Fraction => ({ numerator: integer, denominator: 1n });
const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
const bitLength = (value: bigint): number => value.toString(2).length;

/** 120 leading bits are enough: the bits after them cannot change the order. */
function toDouble({ numerator, denominator }: Fraction): number {
  if (numerator === 0n) return 0;
  const size = magnitude(numerator);
  let shift = 120 - bitLength(size) + bitLength(denominator);
  let leading = shifted(size, shift) / shifted(denominator, -shift);
  if (bitLength(leading) > 120) {
    shift -= 1;
    leading = shifted(size, shift) / shifted(denominator, -shift);
  }
  return (numerator > 0n ? 1 : -1) * Number(leading) * 2 ** -shift;
}

const shifted = (value: bigint, by: number): bigint => (by > 0 ? value << BigInt(by) : value);

function minus({ numerator, denominator }: Fraction, double: number): Fraction {
  const exact = ofDouble(double);
  return {
    numerator: numerator * exact.denominator - exact.numerator * denominator,
    denominator: denominator * exact.denominator,
  };
}

function ofDouble(value: number): Fraction {
  let whole = value;
  let doublings = 0;
  while (!Number.isInteger(whole)) {
    whole *= 2;
    doublings += 1;
  }
  return { numerator: BigInt(whole), denominator: 1n << BigInt(doublings) };
}
