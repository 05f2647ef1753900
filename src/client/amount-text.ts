const UNITS: Readonly<Record<string, readonly [decimals: number, name: string]>> = {
  // Its name is its network's own.
  wei: [18, 'of the native coin'],
  lamport: [9, 'SOL'],
  stroop: [7, 'XLM'],
};

/** An amount in the units that people use, with up to six places. */
export function amountText(amount: number | bigint | string, unit: string): string {
  const [decimals, name] = UNITS[unit] ?? [0, unit];
  const digits = BigInt(amount)
    .toString()
    .padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const places = digits.slice(digits.length - decimals, digits.length - decimals + 6).replace(/0+$/, '');
  return `${whole}${places === '' ? '' : `.${places}`} ${name}`;
}
