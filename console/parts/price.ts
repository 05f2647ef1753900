/** The price of an attempt where its family has one. */
export function priceOf(content: Record<string, unknown> | undefined): string {
  const wei = content?.['max_fee_per_gas'] ?? content?.['gas_price'];
  if (wei == null) return '';
  const gwei = Number(wei) / 1e9;
  return `${gwei >= 10 ? gwei.toFixed(1) : gwei.toPrecision(3)} gwei`;
}
