import { createHash } from 'node:crypto';

/** Jupiter's program, the only one that is given a relayer's signature for a swap. */
export const AGGREGATOR = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';

const SELECTOR = 8;

/** The amount that an instruction of Jupiter's program gives, and the least that it accepts for it. */
export interface Terms {
  given: bigint;
  least: bigint;
  /** The places of the accounts that the instruction takes from and pays to. */
  source: number;
  destination: number;
  /** The place of an alternative account to pay to. Where there is none, the program's own key stands there. */
  instead?: number;
}

/** Bytes of the amount in, the amount out and the slippage, which takes two bytes. */
const TERMS = 18;

interface Form extends Pick<Terms, 'source' | 'destination' | 'instead'> {
  name: string;
  /**
   * Where the amounts begin: before a fee of one byte at the end, or after the selector, or after an id of one byte
   * there.
   */
  at(length: number): number;
}

/** The known instructions of Jupiter's program, as its interface describes them. */
const FORMS: readonly Form[] = [
  { name: 'route', source: 2, destination: 3, instead: 4, at: (length) => length - TERMS - 1 },
  { name: 'shared_accounts_route', source: 3, destination: 6, at: (length) => length - TERMS - 1 },
  { name: 'route_v2', source: 1, destination: 2, instead: 7, at: () => SELECTOR },
  { name: 'shared_accounts_route_v2', source: 2, destination: 5, at: () => SELECTOR + 1 },
];

const BY_SELECTOR: ReadonlyMap<string, Form> = new Map(FORMS.map((form) => [selectorOf(form.name), form]));

/** The bytes by which Anchor tells methods apart. */
function selectorOf(name: string): string {
  return createHash('sha256').update(`global:${name}`).digest().subarray(0, SELECTOR).toString('hex');
}

/** Undefined for an instruction that swaps no fixed amount, or that is not known. */
export function termsOf(data: Buffer): Terms | undefined {
  const form = BY_SELECTOR.get(data.subarray(0, SELECTOR).toString('hex'));
  const at = form?.at(data.length) ?? 0;
  if (form === undefined || at < SELECTOR || at + TERMS > data.length) return undefined;
  const slippage = BigInt(Math.min(data.readUInt16LE(at + 16), Number(WHOLE)));
  const least = (data.readBigUInt64LE(at + 8) * (WHOLE - slippage)) / WHOLE;
  const { source, destination, instead } = form;
  return {
    given: data.readBigUInt64LE(at),
    least,
    source,
    destination,
    ...(instead === undefined ? {} : { instead }),
  };
}

const WHOLE = 10_000n;
