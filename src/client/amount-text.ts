const UNITS: Readonly<Record<string, readonly [decimals: number, name: string]>> = {
  // Each network has its own name for it.
  wei: [18, 'of the native coin'],
  lamport: [9, 'SOL'],
  stroop: [7, 'XLM'],
};

/** Formats an amount in the usual unit, with up to six decimal places. */
export function amountText(amount: number | bigint | string, unit: string): string {
  const [decimals, name] = UNITS[unit] ?? [0, unit];
  const digits = BigInt(amount)
    .toString()
    .padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const places = digits.slice(digits.length - decimals, digits.length - decimals + 6).replace(/0+$/, '');
  return `${whole}${places === '' ? '' : `.${places}`} ${name}`;
}
