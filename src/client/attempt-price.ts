/**
 * Formats the price that an attempt offers, in its family's unit: a gas price or a fee. Empty when its content has
 * none.
 */
export function priceOf(content: Readonly<Record<string, unknown>> | undefined): string {
  const wei = content?.['max_fee_per_gas'] ?? content?.['gas_price'];
  if (wei != null) {
    const gwei = Number(wei) / 1e9;
    return `${gwei >= 10 ? gwei.toFixed(1) : gwei.toPrecision(3)} gwei`;
  }
  const fee = content?.['fee'];
  if (content === undefined || (typeof fee !== 'number' && typeof fee !== 'bigint')) return '';
  return `${fee} ${'max_time' in content ? 'stroops' : 'lamports'}`;
}
