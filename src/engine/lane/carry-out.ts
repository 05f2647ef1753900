import { newTransaction } from '../../features/transactions/records/transaction.ts';
import { decide, type LaneCommand, type Moment } from './decide.ts';
import { observe } from './facts.ts';
import type { LaneMemory } from './lane-memory.ts';
import { applyToOpen, type LaneStep, momentOf } from './lane-step.ts';
import type { OpenTransaction } from './ledger.ts';
import { signAttempts } from './sign-attempts.ts';

/**
 * Does what was decided: remembers it, commits the changes together, and signs the attempts. Offers are made in
 * `broadcast.ts`.
 * @returns how many attempts were tried
 */
export async function carryOut(step: LaneStep, commands: readonly LaneCommand[]): Promise<number> {
  const at = momentOf(step);
  for (const command of commands) {
    tell(step, command);
    remember(step.memory, command, at);
  }
  await applyToOpen(
    step,
    commands.flatMap((command) => ('change' in command ? (command.change ?? []) : [])),
  );
  const wanted = commands.flatMap((command) => ('wanted' in command ? [command.wanted] : []));
  if (wanted.length > 0 && !step.life.isEnding()) {
    const outcomes = await signAttempts(step, wanted);
    const signing = wanted.map((one, index) => [one, outcomes[index] ?? { kind: 'later' }] as const);
    await carryOut(step, decide(step, { kind: 'signing', outcomes: signing }, momentOf(step)));
    return wanted.length;
  }
  let filled = 0;
  for (const command of commands) {
    if (command.do !== 'fillGap') continue;
    if (step.life.isEnding() || !(await fillGap(step, command))) break;
    filled += 1;
  }
  return filled;
}

/** Looks on the chain for the given transactions, and brings them to the state that it shows. */
export async function lookFor(step: LaneStep, entries: readonly OpenTransaction[]): Promise<void> {
  if (entries.length === 0) return;
  const observed = await observe(step, entries);
  step.life.onCheckpoint('observed');
  await carryOut(step, decide(step, observed, momentOf(step)));
  step.life.onCheckpoint('settled');
}

/** Takes a command into what the lane remembers. */
export function remember(memory: LaneMemory, command: LaneCommand, { elapsed }: Pick<Moment, 'elapsed'>): void {
  const { offers } = memory;
  switch (command.do) {
    case 'wait':
      if (command.isFree === true) offers.freed(command.change.transaction.id);
      break;
    case 'expireAttempts':
      offers.freed(command.change.transaction.id);
      break;
    case 'keepOpen':
      offers.unproved(command.change.transaction.id, elapsed);
      if (command.isUnresolved) offers.park(command.change.transaction, 'sequence', elapsed);
      break;
    case 'compare':
      memory.restored.died(command.change.transaction.id, command.attempts);
      break;
    case 'reopen':
      offers.forget(command.change.transaction.id);
      break;
    case 'include':
      included(memory, command, elapsed);
      break;
    case 'rest':
      offers.restUntil(command.transaction.id, command.until);
      break;
    case 'park':
      offers.park(command.transaction, command.cause, command.until);
      break;
    case 'noteTaken':
      offers.accepted(command.change.transaction.id, elapsed);
      break;
    case 'noteHeldBack':
      offers.heldBack(command.change.transaction.id);
      break;
    case 'retry':
      notTaken(memory, command, elapsed);
      break;
    default:
    // What the others leave is in the store.
  }
}

function included(
  memory: LaneMemory,
  { change: { transaction }, attempt, isFinal }: Extract<LaneCommand, { do: 'include' }>,
  elapsed: number,
): void {
  if (transaction.status !== 'mined') memory.pool.moved(elapsed);
  const { sequence } = transaction;
  if (sequence !== null && attempt.createdAt > (memory.newestInBlock?.signedAt ?? 0))
    memory.newestInBlock = { sequence, signedAt: attempt.createdAt };
  // What nodes said of its attempts does not apply after a reorganisation.
  if (!isFinal) memory.offers.forget(transaction.id);
}

function notTaken(
  { offers }: LaneMemory,
  { change: { transaction }, outcome, isFirst }: Extract<LaneCommand, { do: 'retry' }>,
  elapsed: number,
): void {
  const { id } = transaction;
  const { kind, reason } = outcome;
  offers.isNews(id, kind);
  if (kind === 'refused') offers.refused(id, elapsed);
  const isFigure = outcome.kind === 'refused' && outcome.isFigure === true;
  if (kind === 'fee-too-low' || kind === 'underpriced' || isFigure) offers.wantsAnother(id, reason);
  if (isFirst && outcome.kind === 'unknown' && outcome.isClear === true) offers.turnedAway(id, reason, elapsed);
  else offers.notTurnedAway(id);
  offers.failed(id);
}

/** Tells the log. */
function tell({ log, key: lane, memory }: LaneStep, command: LaneCommand): void {
  if (!('change' in command) || command.change === undefined) return;
  const { transaction, decision } = command.change;
  const about = { transaction: transaction.id, lane };
  if (command.do === 'reopen') log.warn(about, 'no longer in a block');
  else if (command.do === 'ignore')
    log.error({ ...about, hash: command.hash }, 'a node returned another hash than that of the signed transaction');
  else if (command.do === 'strand')
    log.warn({ ...about, sequence: String(transaction.sequence) }, 'ended beyond reach of its account');
  else if (command.do === 'giveUp' && memory.offers.causeOf(transaction.id) === 'sequence')
    log.warn({ ...about, sequence: String(transaction.sequence) }, 'taken back beyond reach');
  else if (command.do === 'endOrRenew')
    log.warn({ ...about, anchor: command.anchor, reason: command.reason }, 'no attempt can execute any more');
  else if (command.do === 'keepOpen' && decision !== undefined)
    log.warn({ ...about, reason: command.reason }, 'the end of a transaction is not proven yet');
  else if (command.do === 'retry') {
    const { kind: outcome, reason } = command.outcome;
    log[decision === undefined ? 'debug' : 'warn'](
      { ...about, outcome, reason },
      'nodes did not accept a signed transaction',
    );
  }
}

/**
 * Fills a gap with a noop of the relayer that waits above it. Without it, everything above would wait for ever.
 * @returns false when no noop can be made now
 */
async function fillGap(
  step: LaneStep,
  { relayerId, sequence }: Extract<LaneCommand, { do: 'fillGap' }>,
): Promise<boolean> {
  const { chain, client, relayer, account } = await step.senders.of(relayerId);
  if (client.sequences === undefined || client.replacement === undefined) return false;
  const transaction = newTransaction({
    id: step.newId(),
    relayerId,
    networkType: relayer.networkType,
    lane: step.key,
    statusReason: `Gap-filling NOOP for ${chain.sequence?.name ?? 'sequence'} ${sequence}`,
    createdAt: step.clock.now(),
    request: client.sequences.noopRequest(account),
    validUntil: null,
    anchorKind: 'sequence',
    onDeath: 'end',
    contentKey: null,
  });
  const filler = { transaction, earlier: [], spec: { purpose: 'noop' }, kind: 'gap-filled', fills: sequence } as const;
  const [outcome] = await signAttempts(step, [filler]);
  if (outcome?.kind === 'signed') step.log.warn({ lane: step.key, sequence: String(sequence) }, 'gap filled');
  return outcome?.kind === 'signed';
}
