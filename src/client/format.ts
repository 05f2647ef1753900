import type { Schemas } from './api.ts';

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

type Event = Schemas['TimelineEvent'];

type Decision = Extract<Event, { event: 'decided' }>['decision'];

const DECISIONS: Readonly<Record<Decision, string>> = {
  parked: 'waiting',
  resumed: 'resumed',
  canceled: 'cancel accepted',
  canceling: 'cancel accepted',
  replaced: 'replaced',
  bumped: 'price raised',
  expired: 'expired',
  'noop-signed': 'empty transaction signed in its place',
  refused: 'refused by a node',
  'not-taken': 'not taken by a node',
  mined: 'in a block',
  reorganised: 'taken out of its block',
  'gap-filled': 'gap filled',
  dead: 'can no longer execute',
  fallback: 'fallback used',
  adopted: 'found on chain',
};

/** The name of an event of a timeline, for people. */
export function eventName(event: Event): string {
  if (event.event === 'decided') return DECISIONS[event.decision] ?? event.decision;
  if (event.event === 'ended') return event.status;
  if (event.event === 'signed') return `signed, version ${event.version}`;
  return event.event.replaceAll('_', ' ');
}
