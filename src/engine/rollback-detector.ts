import { EndablePause } from '../domain/endable-pause.ts';
import type { Log } from '../observability/log.ts';
import type { FolderMemory, KnownHistory } from '../store/sqlite/folder-memory.ts';
import type { Store, StoreHistory, StoreReader, StoreWriter } from '../store/store.ts';
import type { TransactionLedger } from './lane/ledger.ts';

/**
 * The time between two marks. If a restored copy is older than a crash by less than this, the marks may not show it.
 * Transactions that were signed in between then look unsigned.
 */
const EVERY_MS = 5_000;

/** How long after a start an operator's word counts: long enough for all instances to start and take up their lanes. */
const RELEASE_MS = 600_000;

export interface RollbackDetectorDeps {
  store: Pick<Store, 'read' | 'write' | 'now' | 'place' | 'leases'>;
  memory: FolderMemory;
  newId(): string;
  log: Log;
  /** Called when the database was put back under the running service. The service must then end. */
  onRollback(reason: Error): void;
  everyMs?: number;
}

/** What a database holds that does something when the service starts, and that may have been done already: numbers. */
export interface Unfinished {
  unsigned: number;
  calls: number;
  triggers: number;
}

export async function unfinishedIn(
  read: Pick<StoreReader, 'unsignedCount' | 'openCalls' | 'triggers'>,
): Promise<Unfinished> {
  const unsigned = await read.unsignedCount();
  const calls = Object.values(await read.openCalls()).reduce((sum, count) => sum + count, 0);
  return { unsigned, calls, triggers: (await read.triggers()).length };
}

/** For people; undefined where there is nothing. */
export function textOfUnfinished({ unsigned, calls, triggers }: Unfinished): string | undefined {
  const parts = [
    unsigned > 0 && `${unsigned} transactions that were accepted and not yet signed`,
    calls > 0 && `${calls} durable calls that have not ended`,
    triggers > 0 && `${triggers} triggers`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** The database has gone back to an earlier state, and what it still has to do may have been done since then. */
class WentBack extends Error {
  constructor(holds: string) {
    super(
      [
        'The database is a copy, or at an earlier moment than this data folder knows it: a backup was put back.',
        `It holds ${holds}. What these do may have been done since then.`,
        'Stop all instances, and answer once, with the environment of the service:',
        ...RESTORE_ANSWERS.map(([flag, text]) => `  npm run isolayer -- restore ${flag.padEnd(18)}  ${text}`),
      ].join('\n'),
    );
    this.name = 'WentBack';
  }
}

/** The answers of an operator, with what they mean. */
export const RESTORE_ANSWERS = [
  [
    '--compare-unsigned',
    'the service ran after the copy was made: what the chain shows as sent is taken as sent, all else goes on',
  ],
  [
    '--fail-unsigned',
    'it ran: transactions end as failed and are not sent, calls are canceled, triggers begin from now',
  ],
  ['--send-unsigned', 'it did not run: all goes on when it starts'],
] as const;

/**
 * Whether the database is a copy, or older than the state that the data folder remembers. `place` identifies where the
 * database is; null when it has no place but its data folder.
 */
export function isRolledBack(
  history: Omit<StoreHistory, 'release'>,
  known: KnownHistory | undefined,
  place: string | null,
): boolean {
  const { epochs, marks } = history;
  if (epochs.length > 0 && place !== history.place) return true;
  // A database without another place: its data folder would remember it.
  if (known === undefined) return epochs.length > 0 && place === null;
  if (!epochs.includes(known.epoch)) return true;
  // If the folder remembers an earlier epoch, the question was answered since then, from another folder.
  return known.epoch === epochs.at(-1) && (marks.get(known.folder)?.count ?? -1) < known.count;
}

/** Begins a new epoch. From now on the database counts as current, whatever data folders remember of it. */
export async function beginEpoch(
  writer: StoreWriter,
  { folder, epoch, place }: { folder: string; epoch: string; place: string | null },
): Promise<KnownHistory> {
  const { epochs, marks } = await writer.history();
  const count = (marks.get(folder)?.count ?? 0) + 1;
  await writer.putHistory({ epochs: [...epochs, epoch], place });
  await writer.putMark(folder, { count, at: 0 });
  return { folder, epoch, count };
}

/**
 * Detects that an older copy of the database was put back. While the service runs, it raises a mark in the database
 * and, after that, in the data folder. A database whose mark is lower than the folder's has gone back. Signed
 * transactions are safe then, because the same bytes go out again. Unsigned ones could be paid twice.
 */
export class RollbackDetector {
  readonly #deps: RollbackDetectorDeps;
  readonly #pause = new EndablePause();
  readonly #everyMs: number;
  #known: KnownHistory;
  #running: Promise<void> | undefined;
  #closed = false;
  #isFailing = false;
  /** Whether marks rise only after signatures, so that an idle service writes nothing. */
  readonly #isQuiet: boolean;
  #signatures = 0;
  #marked = 0;

  private constructor(deps: RollbackDetectorDeps, known: KnownHistory) {
    this.#deps = deps;
    this.#known = known;
    this.#everyMs = deps.everyMs ?? EVERY_MS;
    // Marks of instances that share a database also show that they live.
    this.#isQuiet = deps.everyMs === undefined && !Number.isFinite(deps.store.leases.lastsMs);
  }

  /**
   * Compares the database with what the data folder remembers, and begins to keep both marks.
   * @throws WentBack when the database has gone back and holds what would act again
   */
  static async open(deps: RollbackDetectorDeps): Promise<RollbackDetector> {
    const { store, memory, newId, log } = deps;
    const { folder, known } = memory;
    const place = await store.place();
    const now = await store.now();
    const { next, isBack } = await store.write(async (writer) => {
      const history = await writer.history();
      const isBack = isRolledBack(history, known, place);
      const holds = isBack ? textOfUnfinished(await unfinishedIn(writer)) : undefined;
      if (holds !== undefined) throw new WentBack(holds);
      // The operator's word covers the first start after it.
      const { release } = history;
      if (release?.endsAt === null) await writer.putRelease({ ...release, endsAt: now + RELEASE_MS });
      const epoch = isBack ? undefined : history.epochs.at(-1);
      if (epoch === undefined) return { isBack, next: await beginEpoch(writer, { folder, epoch: newId(), place }) };
      return { isBack, next: { folder, epoch, count: history.marks.get(folder)?.count ?? 0 } };
    });
    if (isBack) log.warn('the database is a copy or was rolled back; it holds nothing that could be sent twice');
    const detector = new RollbackDetector(deps, next);
    await detector.#raise(false);
    detector.#running = detector.#run();
    return detector;
  }

  /** Something was signed. The first time, the mark rises at once: a copy from before is then known as one. */
  signed(): void {
    this.#signatures += 1;
    if (this.#isQuiet && this.#signatures === 1) this.#pause.end();
  }

  /** Stores the last mark. Safe to call twice; never fails. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#pause.end();
    await this.#running;
    await this.#raise(true).catch((error: unknown) => this.#failed(error));
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#pause.last(this.#everyMs);
      if (this.#closed) return;
      if (this.#isQuiet && this.#marked === this.#signatures) continue;
      const signatures = this.#signatures;
      try {
        await this.#raise(false);
        this.#marked = signatures;
        this.#isFailing = false;
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  async #raise(isLast: boolean): Promise<void> {
    const { store, memory, log, onRollback } = this.#deps;
    const { folder, epoch, count: known } = this.#known;
    const at = isLast ? 0 : await store.now();
    const count = await store.write(async (writer) => {
      const { epochs, marks } = await writer.history();
      const { count } = marks.get(folder) ?? { count: 0 };
      if (epochs.at(-1) !== epoch || count < known) return undefined;
      // The database may have a higher mark than is known here: its commit succeeded, but the answer was lost.
      await writer.putMark(folder, { count: count + 1, at });
      return count + 1;
    });
    if (count !== undefined) {
      await memory.keep({ folder, epoch, count });
      this.#known = { folder, epoch, count };
      return;
    }
    if (this.#closed) return;
    this.#closed = true;
    const reason =
      'The database has gone back under the running service: a backup was put back, or a standby lacks commits';
    log.error({ reason }, 'the database was rolled back; the service stops');
    onRollback(new Error(reason));
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.#deps.log.warn({ err: error }, 'the mark of the database could not be written');
    this.#isFailing = true;
  }
}

const UNSIGNED_PER_COMMIT = 500;

/** The status reason of a transaction or call that a restore ended. */
const GIVEN_UP_CALL = 'Restored from a backup: it does not go on, because it may have ended after the backup was taken';
const GIVEN_UP = 'Restored from a backup: it is not sent, because it may have been sent after the backup was taken';

/**
 * Ends all transactions that were accepted and not signed as failed, cancels all calls, and lets triggers begin from now.
 * Webhooks and budgets are updated as usual. Nothing else may use the database at the same time. Signed transactions
 * stay: their same bytes go out again.
 */
export async function failUnsigned(
  store: Pick<Store, 'read' | 'write' | 'now'>,
  ledger: TransactionLedger,
): Promise<void> {
  const error = { code: 'CALL_CANCELED', message: GIVEN_UP_CALL, status: 409 };
  for (;;) {
    const open = await store.read.dueCalls(Number.MAX_SAFE_INTEGER, []);
    if (open.length === 0) break;
    await store.write(async (writer) => {
      for (const { id } of open) await writer.stopCall(id, 'canceled', { error });
    });
  }
  const now = await store.now();
  await store.write(async (writer) => {
    for (const state of await writer.triggers()) {
      const { kind } = state.cursor;
      if (kind === 'moment')
        await writer.putTrigger({ ...state, cursor: { kind, at: now }, since: now, lookedAt: now });
      if (kind !== 'place') continue;
      const cursor = { kind, ...(await writer.latestTransactionEvent()) };
      await writer.putTrigger({ ...state, cursor, since: now, lookedAt: now });
    }
  });
  for (;;) {
    const unsigned = await store.read.unsigned(UNSIGNED_PER_COMMIT);
    if (unsigned.length === 0) return;
    await ledger.apply(
      unsigned.map((transaction) => ({
        transaction,
        set: { status: 'failed', statusReason: GIVEN_UP, nextActionAt: null },
      })),
    );
  }
}
