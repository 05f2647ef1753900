import { createHash } from 'node:crypto';

/** Jupiter's program, the only one that is given a relayer's signature for a swap. */
export const AGGREGATOR = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';

const SELECTOR = 8;

/** What an instruction of Jupiter's program gives, and the least that it takes for it. */
export interface Terms {
  given: bigint;
  least: bigint;
  /** The places of the accounts that it takes from and pays to. */
  source: number;
  destination: number;
  /** The place of another one to pay to, which is the program's own key where there is none. */
  instead?: number;
}

/** Amount in, amount out and slippage, which takes two bytes. */
const TERMS = 18;

interface Form extends Pick<Terms, 'source' | 'destination' | 'instead'> {
  name: string;
  /** Where it has the amounts: from its end, before a fee of a byte; or behind the selector, or an id of a byte. */
  at(length: number): number;
}

/** Jupiter's program as its interface describes it. */
const FORMS: readonly Form[] = [
  { name: 'route', source: 2, destination: 3, instead: 4, at: (length) => length - TERMS - 1 },
  { name: 'shared_accounts_route', source: 3, destination: 6, at: (length) => length - TERMS - 1 },
  { name: 'route_v2', source: 1, destination: 2, instead: 7, at: () => SELECTOR },
  { name: 'shared_accounts_route_v2', source: 2, destination: 5, at: () => SELECTOR + 1 },
];

const BY_SELECTOR: ReadonlyMap<string, Form> = new Map(FORMS.map((form) => [selectorOf(form.name), form]));

/** As Anchor tells its methods apart. */
function selectorOf(name: string): string {
  return createHash('sha256').update(`global:${name}`).digest().subarray(0, SELECTOR).toString('hex');
}

/** Undefined for an instruction that swaps no fixed amount, or none that is known. */
export function termsOf(data: Buffer): Terms | undefined {
  const form = BY_SELECTOR.get(data.subarray(0, SELECTOR).toString('hex'));
  const at = form?.at(data.length) ?? 0;
  if (form === undefined || at < SELECTOR || at + TERMS > data.length) return undefined;
  const slippage = BigInt(Math.min(data.readUInt16LE(at + 16), Number(WHOLE)));
  const least = (data.readBigUInt64LE(at + 8) * (WHOLE - slippage)) / WHOLE;
  const { source, destination, instead } = form;
  return {
    ...{ given: data.readBigUInt64LE(at), least, source, destination },
    ...(instead === undefined ? {} : { instead }),
  };
}

const WHOLE = 10_000n;
