import { toBase58 } from '../../doubles/svm/base58.ts';
import { type CallFault, type CallFaults, fromThePast, type ProxiedAnswer, type ProxiedCall } from './faults.ts';

const SEND = ['sendTransaction'];
const STATUSES = ['getSignatureStatuses'];
const STANDING = ['getEpochInfo'];
const LATEST = ['getLatestBlockhash'];
const VALIDITY = ['isBlockhashValid'];
const SIMULATION = ['simulateTransaction'];

/** The number of slots whose statuses a pruning node keeps. */
const KEPT_SLOTS = 60;
/** The most slots that a lagging node is behind. */
const MAX_BEHIND = 40;
/** The lifetime of a blockhash, in blocks. */
const LIFE = 150;

interface Context {
  context: { slot: number };
}

interface Status {
  slot: number;
  confirmations: number | null;
  status: object;
  err: unknown;
  confirmationStatus: string;
}

type Statuses = Context & { value: (Status | null)[] };
type Standing = { absoluteSlot: number; blockHeight: number };
type Latest = Context & { value: { blockhash: string; lastValidBlockHeight: number } };
type Flag = Context & { value: boolean };
type Simulation = Context & { value: { err: unknown; logs: string[] } };

/** What can be wrong with the answers of a Solana node. */
export function solanaCallFaults(): CallFaults {
  const memory = new Memory();
  return {
    table: { ...lags(), ...pruned(memory), ...lies() },
    learn: (call, truth) => memory.learn(call, truth),
  };
}

/** What one proxy has seen of a chain. */
class Memory {
  #slot = 0;

  learn({ method }: ProxiedCall, truth: ProxiedAnswer): void {
    if (!('result' in truth)) return;
    const { result } = truth;
    const told =
      method === 'getEpochInfo' ? (result as Standing).absoluteSlot : (result as Partial<Context>)?.context?.slot;
    if (told !== undefined) this.#slot = Math.max(this.#slot, told);
  }

  /** The first slot that a pruning node still has. */
  get first(): number {
    return Math.max(this.#slot - KEPT_SLOTS, 0);
  }
}

/** Faults of a lagging node. */
function lags(): Record<string, CallFault> {
  return {
    'standing of earlier': { nature: 'lag', methods: STANDING, answer: fromThePast },
    'blockhash of earlier': { nature: 'lag', methods: LATEST, answer: fromThePast },
    'balance of earlier': { nature: 'lag', methods: ['getBalance'], answer: fromThePast },
    'statuses of earlier': { nature: 'lag', methods: STATUSES, answer: told<Statuses>(statusesOfEarlier) },
    'node is behind': refused({ code: -32_005, message: 'Node is behind by 42 slots' }),
  };
}

/** Faults of a node that keeps only little of the chain, and says so. */
function pruned(memory: Memory): Record<string, CallFault> {
  return {
    'statuses pruned': {
      nature: 'pruned',
      methods: STATUSES,
      answer: told<Statuses>((truth) =>
        withStatuses(truth, (one) => (one !== null && one.slot < memory.first ? null : one)),
      ),
    },
    'history begins late': {
      nature: 'pruned',
      methods: ['getFirstAvailableBlock'],
      answer: told<number>((first) => first < memory.first && memory.first),
    },
    'transaction pruned': {
      nature: 'pruned',
      methods: ['getTransaction'],
      answer: told<{ slot: number } | null>((truth) => truth !== null && truth.slot < memory.first && null),
    },
  };
}

/** Faults that were never true. */
function lies(): Record<string, CallFault> {
  return {
    'no statuses': lie<Statuses>(STATUSES, (truth) => withStatuses(truth, () => null)),
    'success forged': lie<Statuses>(STATUSES, (truth) => withStatuses(truth, (one) => one ?? forged(truth, null))),
    'failure forged': lie<Statuses>(STATUSES, (truth) => withStatuses(truth, (one) => one ?? forged(truth, REFUSED))),
    'success told as failure': lie<Statuses>(STATUSES, (truth) =>
      withStatuses(truth, (one) => (one?.err === null ? { ...one, ...errorOf(REFUSED) } : one)),
    ),
    'failure told as success': lie<Statuses>(STATUSES, (truth) =>
      withStatuses(truth, (one) => (one !== null && one.err !== null ? { ...one, ...errorOf(null) } : one)),
    ),
    'final before it is': lie<Statuses>(STATUSES, (truth) =>
      withStatuses(truth, (one) => one && { ...one, confirmations: null, confirmationStatus: 'finalized' }),
    ),
    'standing too high': lie<Standing>(STANDING, (truth, unit) => moved(truth, 1 + Math.floor(unit * 2 * LIFE))),
    'standing far too high': lie<Standing>(STANDING, (truth) => moved(truth, 1_000_000)),
    'standing too low': lie<Standing>(STANDING, (truth, unit) => moved(truth, -1 - Math.floor(unit * 2 * LIFE))),
    'blockhash made up': lie<Latest>(LATEST, ({ value, ...rest }, unit) => ({
      ...rest,
      value: { ...value, blockhash: keyFrom(unit) },
    })),
    'blockhash dies too early': lie<Latest>(LATEST, (truth, unit) => withLife(truth, -Math.floor(unit * LIFE))),
    'blockhash dies too late': lie<Latest>(LATEST, (truth) => withLife(truth, 1_000)),
    'blockhash denied': lie<Flag>(VALIDITY, (truth) => truth.value && { ...truth, value: false }),
    'blockhash of old called valid': lie<Flag>(VALIDITY, (truth) => !truth.value && { ...truth, value: true }),
    'simulated to fail': lie<Simulation>(SIMULATION, ({ value, ...rest }) => ({
      ...rest,
      value: { ...value, ...failed(REFUSED) },
    })),
    'simulated to succeed': lie<Simulation>(SIMULATION, ({ value, ...rest }) => ({
      ...rest,
      value: { ...value, err: null },
    })),
    'no balance': lie<Context & { value: number }>(['getBalance'], (truth) => ({ ...truth, value: 0 })),
    'fee far too high': lie<Context & { value: number | null }>(['getFeeForMessage'], (truth) => ({
      ...truth,
      value: 10 ** 12,
    })),
    'prices far too high': lie<{ slot: number }[]>(['getRecentPrioritizationFees'], (truth) =>
      truth.map(({ slot }) => ({ slot, prioritizationFee: 10 ** 9 })),
    ),
    'history begins long ago': lie<number>(['getFirstAvailableBlock'], () => 0),
    'block made tomorrow': lie<number | null>(['getBlockTime'], (truth) => truth !== null && truth + 86_400),
    'wrong signature': lie<string>(SEND, (_truth, unit) => toBase58(Buffer.alloc(64, Math.floor(unit * 256)))),
    'transaction dropped in silence': { nature: 'lie', methods: SEND, answer: silence, reachesNode: false },
    'refused falsely, kept from the node': { nature: 'lie', methods: SEND, answer: falselyRefused, reachesNode: false },
    'refused falsely, done by the node': { nature: 'lie', methods: SEND, answer: falselyRefused },
  };
}

const REFUSED = { InstructionError: [0, { Custom: 1 }] };

/** Reasons with which nodes refuse bytes: they would fail, their blockhash is old, and so on. */
const FALSE_REFUSALS: readonly Refusal[] = [
  preflight(REFUSED),
  preflight('BlockhashNotFound'),
  preflight('InsufficientFundsForFee'),
  preflight('AlreadyProcessed'),
  { code: -32_003, message: 'Transaction signature verification failure' },
  { code: -32_602, message: 'invalid transaction: index out of bounds' },
];

/** A single fault for all refusals, so that a lying node also accepts some bytes. */
const falselyRefused: CallFault['answer'] = ({ unit }) => {
  const error = FALSE_REFUSALS[Math.floor(unit * FALSE_REFUSALS.length)];
  return error && { error };
};

interface Refusal {
  code: number;
  message: string;
  data?: unknown;
}

function refused(error: Refusal): CallFault {
  return { nature: 'lag', methods: SEND, answer: () => ({ error }), reachesNode: false };
}

function preflight(err: unknown): Refusal {
  const message = `Transaction simulation failed: ${JSON.stringify(err)}`;
  return { code: -32_002, message, data: { ...failed(err), accounts: null, unitsConsumed: 0, returnData: null } };
}

function failed(err: unknown): { err: unknown; logs: string[] } {
  return { err, logs: [] };
}

/** Answers as if the node had taken the bytes. Their name is their first signature. */
const silence: CallFault['answer'] = ({ call }) => ({
  result: toBase58(Buffer.from(String(call.params[0]), 'base64').subarray(1, 65)),
});

function lie<T>(methods: readonly string[], change: (truth: T, unit: number) => T | false): CallFault {
  return { nature: 'lie', methods, answer: told(change) };
}

/** Replaces the true result by another, unless the change gives the same result or `false`. */
function told<T>(change: (truth: T, unit: number) => T | false): CallFault['answer'] {
  return ({ truth, unit }) => {
    if (!('result' in truth)) return undefined;
    const result = change(truth.result as T, unit);
    return result === false || JSON.stringify(result) === JSON.stringify(truth.result) ? undefined : { result };
  };
}

function withStatuses(truth: Statuses, change: (status: Status | null) => Status | null): Statuses {
  return { ...truth, value: truth.value.map(change) };
}

/** The statuses that a node knew some slots ago. */
function statusesOfEarlier({ context, value }: Statuses, unit: number): Statuses {
  const slot = context.slot - 1 - Math.floor(unit * MAX_BEHIND);
  const known = value.map((one) => (one === null || one.slot > slot ? null : one));
  return { context: { ...context, slot }, value: known };
}

/** A status of a block far below. */
function forged({ context }: Statuses, err: unknown): Status {
  return { slot: context.slot - LIFE, confirmations: null, confirmationStatus: 'finalized', ...errorOf(err) };
}

function errorOf(err: unknown): Pick<Status, 'err' | 'status'> {
  return { err, status: err === null ? { Ok: null } : { Err: err } };
}

function moved(truth: Standing, by: number): Standing {
  return { ...truth, absoluteSlot: truth.absoluteSlot + by, blockHeight: truth.blockHeight + by };
}

function withLife({ value, ...rest }: Latest, longer: number): Latest {
  return { ...rest, value: { ...value, lastValidBlockHeight: value.lastValidBlockHeight + longer } };
}

/** A key that no account has. */
function keyFrom(unit: number): string {
  return toBase58(Buffer.alloc(32, 1 + Math.floor(unit * 255)));
}
