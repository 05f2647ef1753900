/** One JSON-RPC call, as far as a fault looks at it. */
export interface ProxiedCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export type ProxiedAnswer = { result: unknown } | { error: { code: number; message: string } };

/**
 * `trouble` is a bad connection or an overloaded gateway, `lag` a node that is behind the others, `pruned` one that does
 * not keep what is old, `lie` an answer that was never true.
 */
export type FaultNature = 'trouble' | 'lag' | 'pruned' | 'lie';

/** What can go wrong with a whole HTTP request, and whether the node saw it. */
export const REQUEST_FAULTS = {
  /** The connection ends before the node heard of the request. */
  'request dropped': 'trouble',
  /** The node has done it, and the connection ends without an answer. */
  'answer dropped': 'trouble',
  /** The node has done it, and nothing is heard of it any more. */
  'answer withheld': 'trouble',
  delayed: 'trouble',
  /** The node gets it twice, as from a gateway that tries again; one of the two answers comes back. */
  'sent twice': 'trouble',
  'status 429': 'trouble',
  'status 429 with Retry-After': 'trouble',
  'status 502': 'trouble',
  'status 503': 'trouble',
  'answer cut short': 'trouble',
  'foreign id': 'trouble',
  /** Of a batch: allowed by JSON-RPC 2.0 section 6. */
  'batch out of order': 'trouble',
  /** Of a batch: one call has no answer in it. */
  'batch with a hole': 'trouble',
} as const satisfies Record<string, FaultNature>;

export type RequestFault = keyof typeof REQUEST_FAULTS;

/** What can be wrong with the answer to one call. */
export interface CallFault {
  nature: FaultNature;
  methods: readonly string[];
  /** The answer in place of the true one; undefined where the fault changes nothing. */
  answer(moment: FaultMoment): ProxiedAnswer | undefined;
  /** Whether the node is asked; where absent it is. */
  reachesNode?: boolean;
}

/** What a fault knows of the call that it befalls. */
export interface FaultMoment {
  call: ProxiedCall;
  /** Of the node, if it was asked. */
  truth: ProxiedAnswer;
  /** True answers to the same call from before, oldest first. */
  older: readonly ProxiedAnswer[];
  /** In [0, 1). */
  unit: number;
}

/** What can be wrong with the answers to the calls of one family, by what one proxy has seen. */
export interface CallFaults {
  readonly table: Readonly<Record<string, CallFault>>;
  /** Is told each call with the true answer to it. */
  learn(call: ProxiedCall, truth: ProxiedAnswer): void;
}

/** Calls are passed on as they are. */
export const NO_CALL_FAULTS: CallFaults = { table: {}, learn: () => {} };

/** A true answer of earlier. */
export const fromThePast: CallFault['answer'] = ({ truth, older, unit }) => {
  const past = older[Math.floor(unit * older.length)];
  return past === undefined || JSON.stringify(past) === JSON.stringify(truth) ? undefined : past;
};

/** Nothing where there is something. */
export const nothing: CallFault['answer'] = ({ truth }) =>
  'result' in truth && truth.result !== null ? { result: null } : undefined;

/** How likely each fault is for a request or a call that it can befall, from 0 to 1, by name; absent: never. */
export type FaultRates = Readonly<Record<string, number>>;

/** Every fault of the given natures at one rate. */
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

/** The fault of one draw among those that are possible: none when the draw is above the sum of their rates. */
export function faultAt<F extends string>(possible: readonly F[], rates: FaultRates, unit: number): F | undefined {
  let bound = 0;
  return possible.find((fault) => {
    bound += rates[fault] ?? 0;
    return unit < bound;
  });
}

/** The faults that can befall a call, without lies and lag for an endpoint that tells the truth at the moment. */
export function faultsOfCall({ table }: CallFaults, { method }: ProxiedCall, truthful: boolean): string[] {
  return Object.entries(table)
    .filter(([, { methods, nature }]) => methods.includes(method) && (!truthful || nature === 'pruned'))
    .map(([fault]) => fault);
}
