/** An amount in whole units, with as many decimals as it needs and never an exponent. */
export function unitsText(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return part === '' ? whole : `${whole}.${part}`;
}

const LAMPORTS_PER_SOL = 10n ** 9n;

/**
 * The worth of one SOL in units of a token, by the price of some lamports. A JavaScript number, without an exponent.
 */
export function rateText(tokens: bigint, decimals: number, lamports: bigint): string {
  return withoutExponent(Number(tokens * LAMPORTS_PER_SOL) / Number(lamports * 10n ** BigInt(decimals)));
}

function withoutExponent(value: number): string {
  const [digits = '', exponent] = value.toString().split('e');
  if (exponent === undefined) return digits;
  const [whole = '', part = ''] = digits.split('.');
  const point = whole.length + Number(exponent);
  const all = whole + part;
  if (point <= 0) return `0.${'0'.repeat(-point)}${all}`;
  return all.padEnd(point, '0');
}
