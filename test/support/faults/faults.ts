/** The parts of a JSON-RPC call that faults depend on. */
export interface ProxiedCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export type ProxiedAnswer = { result: unknown } | { error: { code: number; message: string } };

/**
 * `trouble`: a bad connection or an overloaded gateway. `lag`: a node behind the others. `pruned`: a node that drops
 * old data. `lie`: an answer that was never true. `odd`: no figure, or one that nobody can read, where a figure was asked
 * for that the service can do without or ask for again.
 */
export type FaultNature = 'trouble' | 'lag' | 'pruned' | 'lie' | 'odd';

/** What can go wrong with a whole HTTP request, and whether the node saw it. */
export const REQUEST_FAULTS = {
  /** The connection ends before the node gets the request. */
  'request dropped': 'trouble',
  /** The node performs the request, and the connection ends without an answer. */
  'answer dropped': 'trouble',
  /** The node performs the request, and no answer ever comes. */
  'answer withheld': 'trouble',
  delayed: 'trouble',
  /** The node gets the request twice, as from a gateway that retries. One of the two answers comes back. */
  'sent twice': 'trouble',
  'status 429': 'trouble',
  'status 429 with Retry-After': 'trouble',
  'status 502': 'trouble',
  'status 503': 'trouble',
  'answer cut short': 'trouble',
  'foreign id': 'trouble',
  /** For batches: allowed by JSON-RPC 2.0 section 6. */
  'batch out of order': 'trouble',
  /** For batches: the answer to one call is missing. */
  'batch with a hole': 'trouble',
} as const satisfies Record<string, FaultNature>;

export type RequestFault = keyof typeof REQUEST_FAULTS;

/** What can be wrong with the answer to one call. */
export interface CallFault {
  nature: FaultNature;
  methods: readonly string[];
  /** The answer that replaces the true one; undefined if the fault changes nothing. */
  answer(moment: FaultMoment): ProxiedAnswer | undefined;
  /** Whether the call reaches the node; absent: it does. */
  reachesNode?: boolean;
}

/** The data that a fault gets about its call. */
export interface FaultMoment {
  call: ProxiedCall;
  /** The node's answer, if the call reached it. */
  truth: ProxiedAnswer;
  /** Earlier true answers to the same call, oldest first. */
  older: readonly ProxiedAnswer[];
  /** In [0, 1). */
  unit: number;
}

/** The possible faults in answers of one family. They depend on what one proxy has seen. */
export interface CallFaults {
  readonly table: Readonly<Record<string, CallFault>>;
  /** Called with each call and its true answer. */
  learn(call: ProxiedCall, truth: ProxiedAnswer): void;
}

/** Passes calls on unchanged. */
export const NO_CALL_FAULTS: CallFaults = { table: {}, learn: () => {} };

/** Answers with an earlier true answer. */
export const fromThePast: CallFault['answer'] = ({ truth, older, unit }) => {
  const past = older[Math.floor(unit * older.length)];
  return past === undefined || JSON.stringify(past) === JSON.stringify(truth) ? undefined : past;
};

/** Answers with nothing in place of an existing result. */
export const nothing: CallFault['answer'] = ({ truth }) =>
  'result' in truth && truth.result !== null ? { result: null } : undefined;

/**
 * The probability of each fault, from 0 to 1, by name. Absent: never. It applies to each request or call that can have
 * the fault.
 */
export type FaultRates = Readonly<Record<string, number>>;

/** Gives every fault of the given natures the same rate. */
export function ratesFor(
  natures: readonly FaultNature[],
  rate: number,
  { table }: Pick<CallFaults, 'table'> = NO_CALL_FAULTS,
): FaultRates {
  const ofCalls = Object.entries(table).map(([fault, { nature }]) => [fault, nature] as const);
  return Object.fromEntries(
    [...Object.entries(REQUEST_FAULTS), ...ofCalls]
      .filter(([, nature]) => natures.includes(nature))
      .map(([fault]) => [fault, rate]),
  );
}

/** Picks one of the possible faults by a random number. None if the number is above the sum of their rates. */
export function faultAt<F extends string>(possible: readonly F[], rates: FaultRates, unit: number): F | undefined {
  let bound = 0;
  return possible.find((fault) => {
    bound += rates[fault] ?? 0;
    return unit < bound;
  });
}

const HONEST: readonly FaultNature[] = ['pruned', 'odd'];

/** The possible faults of a call. Leaves out lies and lag for an endpoint that is truthful at the moment. */
export function faultsOfCall({ table }: CallFaults, { method }: ProxiedCall, truthful: boolean): string[] {
  return Object.entries(table)
    .filter(([, { methods, nature }]) => methods.includes(method) && (!truthful || HONEST.includes(nature)))
    .map(([fault]) => fault);
}
