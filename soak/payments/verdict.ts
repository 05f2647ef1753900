import type { ChainEntry, ChainRecord } from './chain-record.ts';
import type { Asked } from './client.ts';
import type { Intention } from './plan.ts';

/** A transaction as the API shows it, as far as the verdict looks at it. */
export interface Shown {
  id: string;
  status: string;
  status_reason: string | null;
  nonce: number | null;
  hash: string | null;
  to: string | null;
  data: string | null;
}

/** What was asked of transactions after they were accepted, by id. */
export interface Wishes {
  readonly canceled: ReadonlySet<string>;
  /** What was to take the place. */
  readonly replaced: ReadonlyMap<string, Intention>;
}

export interface Evidence {
  intentions: readonly Intention[];
  asked: Asked;
  wishes: Wishes;
  /** Everything that the API lists. */
  shown: readonly Shown[];
  chain: ChainRecord;
}

/** What is wrong, one sentence for each case; all lists are empty when the promises were kept. */
export interface Verdict {
  accepted: number;
  confirmed: number;
  /** Accepted, and unknown to the API or without an end. */
  lost: string[];
  /** More than one effect, or one that nobody asked for. */
  doubled: string[];
  /** Nonces that are left open, and what waits in the pool. */
  gaps: string[];
  /** A status that the chain contradicts. */
  wrong: string[];
  /** Ended without an effect although nothing but the faults around it kept it from having one. */
  givenUp: string[];
}

const FINAL = ['confirmed', 'failed', 'canceled', 'expired'];

/** A request with all transactions that stand for it, and what those may do on the chain. */
interface Group {
  intention: Intention;
  ids: readonly string[];
  /** Its own entries, or those of what was to replace it. */
  entries: readonly ChainEntry[];
}

/** Judges a run by what the chain says. The service's answers are only held against it. */
export function judge(evidence: Evidence): Verdict {
  const { intentions, asked, shown, chain } = evidence;
  const verdict: Verdict = { accepted: 0, confirmed: 0, lost: [], doubled: [], gaps: [], wrong: [], givenUp: [] };
  const byId = new Map(shown.map((one) => [one.id, one]));
  const byHash = new Map(chain.entries.map((entry) => [entry.hash, entry]));
  const byMark = Map.groupBy(chain.entries, markOf);
  const listedByMark = Map.groupBy(shown, markOf);
  const explained = new Set<ChainEntry>();

  for (const intention of intentions) {
    const known = asked.accepted.get(intention.index) ?? new Set<string>();
    const found = asked.unknown.has(intention.index) ? (listedByMark.get(markOf(intention)) ?? []) : [];
    const ids = [...new Set([...known, ...found.map(({ id }) => id)])];
    const own = [intention, ...ids.flatMap((id) => evidence.wishes.replaced.get(id) ?? [])];
    const entries = own.flatMap((one) => byMark.get(markOf(one)) ?? []);
    for (const entry of entries) explained.add(entry);
    const group: Group = { intention, ids, entries };
    verdict.accepted += ids.length;
    judgeEffects(group, own, evidence, verdict);
    for (const id of ids) judgeState(group, id, byId.get(id), byHash, evidence.wishes, verdict);
  }
  for (const entry of chain.entries) {
    if (!explained.has(entry) && !isVoid(entry)) verdict.doubled.push(`nobody asked for ${entry.hash}`);
  }
  judgeAccounts(evidence, verdict);
  return verdict;
}

/** True when a run kept the promises. */
export function isKept({ lost, doubled, gaps, wrong, givenUp }: Verdict): boolean {
  return [lost, doubled, gaps, wrong, givenUp].every((cases) => cases.length === 0);
}

function judgeEffects(group: Group, own: readonly Intention[], { chain }: Evidence, verdict: Verdict): void {
  const { intention, ids, entries } = group;
  const name = nameOf(intention);
  if (ids.length > 1) verdict.doubled.push(`${name}: one key, ${ids.length} transactions: ${ids.join(', ')}`);
  if (entries.length > ids.length) {
    const hashes = entries.map(({ hash, nonce }) => `${hash} (nonce ${nonce})`);
    verdict.doubled.push(`${name}: ${ids.length} accepted, ${entries.length} in blocks: ${hashes.join(', ')}`);
  }
  const executed = entries.filter(({ succeeded }) => succeeded).length;
  const effects = own.reduce((sum, { index }) => sum + (chain.effects.get(index) ?? 0n), 0n);
  if (effects !== BigInt(executed)) verdict.doubled.push(`${name}: executed ${executed} times, ${effects} effects`);
}

function judgeState(
  { intention, entries }: Group,
  id: string,
  shown: Shown | undefined,
  byHash: ReadonlyMap<string, ChainEntry>,
  wishes: Wishes,
  verdict: Verdict,
): void {
  const name = `${nameOf(intention)} (${id})`;
  if (shown === undefined) {
    verdict.lost.push(`${name}: the API does not know it`);
    return;
  }
  const { status, status_reason: reason, nonce } = shown;
  const told = `${name}: ${status}, nonce ${nonce}, hash ${shown.hash}, ${reason}`;
  if (!FINAL.includes(status)) {
    verdict.lost.push(`${told}; without an end`);
    return;
  }
  const entry = shown.hash === null ? undefined : byHash.get(shown.hash.toLowerCase());
  const isOurs = entry !== undefined && entries.includes(entry);
  const executed = entries.some(({ succeeded }) => succeeded);
  if (entry !== undefined && entry.nonce !== nonce) verdict.wrong.push(`${told}; but mined under nonce ${entry.nonce}`);
  if (entry !== undefined && !isOurs && !isVoid(entry)) verdict.wrong.push(`${told}; but that hash is another's`);
  switch (status) {
    case 'confirmed':
      verdict.confirmed += 1;
      if (!isOurs || !entry.succeeded) verdict.wrong.push(`${told}; but the chain has no such effect`);
      return;
    case 'failed':
      if (executed || (isOurs && entry.succeeded)) verdict.wrong.push(`${told}; but it executed`);
      else if (!isOurs) verdict.givenUp.push(told);
      return;
    case 'canceled':
      if (executed || isOurs) verdict.wrong.push(`${told}; but it is in a block`);
      else if (!wishes.canceled.has(id)) verdict.wrong.push(`${told}; but nobody asked for that`);
      return;
    default:
      if (executed || isOurs) verdict.wrong.push(`${told}; but it is in a block`);
      else if (intention.worthMs === null) verdict.wrong.push(`${told}; but it was to be sent at any time`);
  }
}

function judgeAccounts({ shown, chain, intentions, asked }: Evidence, verdict: Verdict): void {
  if (chain.pool > 0) verdict.gaps.push(`${chain.pool} transactions wait in the pool`);
  const fromOf = new Map(
    intentions.flatMap(({ index, from }) => [...(asked.accepted.get(index) ?? [])].map((id) => [id, from] as const)),
  );
  for (const [address, { mined, pending }] of chain.accounts) {
    const used = shown.flatMap(({ id, nonce }) => (nonce !== null && fromOf.get(id) === address ? [nonce] : []));
    const next = Math.max(-1, ...used) + 1;
    // Above the highest that is shown there may be one more that does nothing and belongs to no transaction.
    if (next > mined) verdict.gaps.push(`${address}: nonce ${next - 1} was signed, ${mined} are mined`);
    if (pending !== mined) verdict.gaps.push(`${address}: ${mined} are mined, the node counts ${pending}`);
    const twice = used.filter((nonce, index) => used.indexOf(nonce) !== index);
    if (twice.length > 0) verdict.wrong.push(`${address}: several transactions show nonces ${twice.join(', ')}`);
  }
}

/** What only one request of the run has: the receiver of a payment, the data of a call. */
function markOf({ to, data }: { to: string | null; data: string | null }): string {
  return `${to?.toLowerCase()} ${(data ?? '0x').toLowerCase()}`;
}

/** A transaction that takes a nonce and does nothing. */
function isVoid({ from, to, value, data }: ChainEntry): boolean {
  return to === from && value === 0n && data === '0x';
}

function nameOf({ index, kind, relayerId }: Intention): string {
  return `${kind} ${index} of ${relayerId}`;
}
