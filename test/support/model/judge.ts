/**
 * Judges everything that sends transactions: the model's worlds and the soaks. It knows nothing of chain families. It
 * believes no status: each end must have a cause that really happened.
 */

/** An accepted request, later requests about it, and what the service shows of it at the end. */
export interface Case {
  /** A name for readers of the verdict. */
  readonly name: string;
  /** The effect for which it was accepted. No other case has the same one, except cases with `ofOthers`. */
  readonly effect: string;
  /** The end of its validity, in milliseconds since the epoch; null: as long as the chain takes it. */
  readonly validUntil: number | null;
  /** In the order in which they were asked. */
  readonly intents: readonly AnsweredIntent[];
  /** Absent when the service does not know it. */
  readonly shown: Shown | undefined;
  /** Hashes of other cases with the same effect. Their executions do not count for this case. */
  readonly ofOthers?: ReadonlySet<string>;
}

/** A client's later request about an accepted request. */
export interface AnsweredIntent {
  readonly kind: 'cancel' | 'replace';
  /** The effect of a replacement. No other intent or case has the same one. */
  readonly effect?: string;
  /** `unheard`: the client got no answer. `open`: the service accepted it, and never reported an outcome. */
  readonly answer: 'done' | 'refused' | 'unheard' | 'open';
}

/** A transaction as the service shows it. */
export interface Shown {
  readonly status: string;
  readonly reason: string | null;
  readonly hash: string | null;
  /** The effect that the service reports for it. */
  readonly effect: string;
  /** The anchor that its attempts consume, in the chain's terms; null while nothing was signed. */
  readonly anchor: string | null;
  /** The time of its end, in milliseconds since the epoch; null if the service does not report it. */
  readonly endedAt: number | null;
}

/** An executed transaction in the chain's history. */
export interface Execution {
  readonly hash: string;
  /** Null if it only consumed its anchor. */
  readonly effect: string | null;
  readonly anchor: string;
  /** False when it reverted. */
  readonly succeeded: boolean;
  /** Whether it was sent without the service. */
  readonly isForeign: boolean;
}

/** What really happened, independent of everything under test. */
export interface Truth {
  readonly executions: readonly Execution[];
  /** Whether the network, or a policy, always refuses this effect. */
  isRefused(effect: string): boolean;
  /** The latest time at which an end can have happened, in milliseconds since the epoch. */
  readonly now: number;
}

/** The errors found, one sentence for each case. All lists are empty if the promises were kept. */
export interface Faults {
  /** Accepted cases that the service does not know, or that have no end. */
  readonly lost: string[];
  /** Cases with more than one effect, or with an effect that nobody requested. */
  readonly doubled: string[];
  /** Cases whose end or answer contradicts the chain or has no cause. */
  readonly wrong: string[];
}

const FINAL = ['confirmed', 'failed', 'canceled', 'expired'];

/** Compares the service's report of each case with what happened. */
export function judgeCases(cases: readonly Case[], truth: Truth): Faults {
  const faults: Faults = { lost: [], doubled: [], wrong: [] };
  const byEffect = Map.groupBy(truth.executions, ({ effect }) => effect);
  const asked = new Set<string | null>([null]);
  for (const one of cases) {
    const effects = effectsOf(one);
    for (const effect of effects) asked.add(effect);
    const own = effects
      .flatMap((effect) => byEffect.get(effect) ?? [])
      .filter(({ hash }) => one.ofOthers?.has(hash) !== true);
    if (own.length > 1)
      faults.doubled.push(`${one.name}: in blocks ${own.length} times: ${own.map(describe).join(', ')}`);
    judgeEnd(one, own, truth, faults);
    judgeAnswers(one, own, faults);
  }
  for (const execution of truth.executions) {
    if (execution.isForeign || asked.has(execution.effect)) continue;
    faults.doubled.push(`nobody asked for ${describe(execution)}`);
  }
  for (const [anchor, users] of Map.groupBy(truth.executions, ({ anchor }) => anchor)) {
    if (users.length > 1) faults.doubled.push(`${anchor} was consumed ${users.length} times`);
  }
  return faults;
}

/** True when the promises were kept. */
export function isFaultless(faults: Faults): boolean {
  return Object.values(faults).every((list) => list.length === 0);
}

function effectsOf({ effect, intents }: Case): string[] {
  return [effect, ...intents.flatMap(({ effect: other }) => other ?? [])];
}

function judgeEnd(one: Case, own: readonly Execution[], truth: Truth, faults: Faults): void {
  const { name, shown } = one;
  if (shown === undefined) {
    faults.lost.push(`${name}: the service does not know it`);
    return;
  }
  const { status, hash, anchor, reason } = shown;
  const told = `${name}: ${status}, anchor ${anchor}, hash ${hash}, ${reason}`;
  if (!FINAL.includes(status)) {
    faults.lost.push(`${told}; without an end`);
    return;
  }
  const fault = faultOfEnd(one, shown, own, truth);
  if (fault !== undefined) faults.wrong.push(`${told}; but ${fault}`);
}

/** Explains why a reported end is false, or has no cause; undefined if it is right. */
function faultOfEnd(one: Case, shown: Shown, own: readonly Execution[], truth: Truth): string | undefined {
  const [seen] = own;
  if (shown.status === 'confirmed') {
    if (seen?.succeeded !== true || seen.hash !== shown.hash) return 'the chain has no such effect';
    if (seen.effect !== shown.effect) return `what executed is ${seen.effect}`;
    // A transaction without an anchor has nothing to compare.
    return shown.anchor === null || seen.anchor === shown.anchor ? undefined : `the chain has it with ${seen.anchor}`;
  }
  if (seen?.succeeded === true) return `it executed: ${describe(seen)}`;
  if (shown.status === 'failed') {
    if (seen !== undefined) return seen.hash === shown.hash ? undefined : `what reverted is ${seen.hash}`;
    const isUsed = truth.executions.some(({ isForeign, anchor }) => isForeign && anchor === shown.anchor);
    return isUsed || truth.isRefused(wantedOf(one)) ? undefined : 'nothing reverted, interfered or refused it';
  }
  if (seen !== undefined) return `it is in a block: ${describe(seen)}`;
  if (shown.status === 'canceled') {
    const isAsked = one.intents.some(({ kind, answer }) => kind === 'cancel' && answer !== 'refused');
    return isAsked ? undefined : 'nobody asked for that, or was told that it is done';
  }
  if (one.validUntil === null) return 'it was to be sent at any time';
  return one.validUntil <= (shown.endedAt ?? truth.now) ? undefined : 'its time had not passed';
}

/** The last effect requested, without the requests that the service refused. */
function wantedOf({ effect, intents }: Case): string {
  return intents.findLast((intent) => intent.effect !== undefined && intent.answer === 'done')?.effect ?? effect;
}

function judgeAnswers(one: Case, own: readonly Execution[], faults: Faults): void {
  for (const { kind, effect, answer } of one.intents) {
    if (answer === 'open') faults.lost.push(`${one.name}: it was never said what came of an intent to ${kind} it`);
    if (answer !== 'refused' || effect === undefined) continue;
    const seen = own.find((execution) => execution.effect === effect);
    if (seen !== undefined) faults.wrong.push(`${one.name}: ${effect} was refused, and it executed: ${describe(seen)}`);
    else if (one.shown?.effect === effect) faults.wrong.push(`${one.name}: shows ${effect}, which was refused`);
  }
}

function describe({ hash, effect, anchor, succeeded }: Execution): string {
  return `${effect} as ${hash} with ${anchor}${succeeded ? '' : ' (reverted)'}`;
}
