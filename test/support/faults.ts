import { keccak256 } from 'ethers';

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

interface CallFaultOf {
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
  /** The highest block that the node has told of. */
  height: number;
  /** Who signed what was sent through here under a hash; undefined for what was not. */
  senderOf(hash: string): string | undefined;
}

const COUNT = ['eth_getTransactionCount'];
const SEND = ['eth_sendRawTransaction'];

const fromThePast: CallFaultOf['answer'] = ({ truth, older, unit }) => {
  const past = older[Math.floor(unit * older.length)];
  return past === undefined || JSON.stringify(past) === JSON.stringify(truth) ? undefined : past;
};

const nothing: CallFaultOf['answer'] = ({ truth }) =>
  'result' in truth && truth.result !== null ? { result: null } : undefined;

const shifted =
  (shift: (unit: number) => number): CallFaultOf['answer'] =>
  ({ truth, unit }) => {
    if (!('result' in truth) || typeof truth.result !== 'string') return undefined;
    const count = BigInt(truth.result) + BigInt(shift(unit));
    const told = `0x${(count < 0n ? 0n : count).toString(16)}`;
    return told === truth.result ? undefined : { result: told };
  };

/** How many blocks a node that prunes still has the receipts of. */
const KEPT_BLOCKS = 6;

const isOld = (block: unknown, height: number) => typeof block === 'string' && Number(block) <= height - KEPT_BLOCKS;

/** What a node would say that has it in a block far below: nothing of it is true. */
const forged: CallFaultOf['answer'] = ({ call, truth, unit, height, senderOf }) => {
  const hash = String(call.params[0]);
  const from = senderOf(hash);
  if (from === undefined || !('result' in truth) || truth.result !== null) return undefined;
  return {
    result: {
      transactionHash: hash,
      from,
      status: unit < 0.8 ? '0x1' : '0x0',
      blockNumber: `0x${Math.max(height - Math.floor(unit * 20), 1).toString(16)}`,
      blockHash: `0x${'f0'.repeat(32)}`,
      transactionIndex: '0x0',
      gasUsed: '0x5208',
      cumulativeGasUsed: '0x5208',
      effectiveGasPrice: '0x3b9aca00',
      contractAddress: null,
      logs: [],
      type: '0x2',
    },
  };
};

/** Texts of go-ethereum (core/txpool/errors.go, core/error.go), which other clients and gateways repeat. */
const refusal = (message: string) => () => ({ error: { code: -32_000, message } });
const FALSE_REFUSALS = {
  'nonce too low': 'nonce too low: next nonce 4096, tx nonce 0',
  'insufficient funds': 'insufficient funds for gas * price + value: balance 0, tx cost 21001',
  'already known': 'already known',
  underpriced: 'replacement transaction underpriced',
} as const;

type FalseRefusal = keyof typeof FALSE_REFUSALS;

function falseRefusals(): Record<`${'kept from the node' | 'done by the node'}, "${FalseRefusal}"`, CallFaultOf> {
  const entries = Object.entries(FALSE_REFUSALS).flatMap(([name, message]): [string, CallFaultOf][] => [
    [`kept from the node, "${name}"`, { nature: 'lie', methods: SEND, answer: refusal(message), reachesNode: false }],
    [`done by the node, "${name}"`, { nature: 'lie', methods: SEND, answer: refusal(message) }],
  ]);
  return Object.fromEntries(entries) as ReturnType<typeof falseRefusals>;
}

/** What can be wrong with the answer to one call. */
export const CALL_FAULTS = {
  'count of earlier': { nature: 'lag', methods: COUNT, answer: fromThePast },
  'height of earlier': { nature: 'lag', methods: ['eth_blockNumber'], answer: fromThePast },
  'block of earlier': { nature: 'lag', methods: ['eth_getBlockByNumber'], answer: fromThePast },
  'no receipt': { nature: 'lag', methods: ['eth_getTransactionReceipt'], answer: nothing },
  'no receipts of a block': { nature: 'lag', methods: ['eth_getBlockReceipts'], answer: nothing },
  'no transaction': { nature: 'lag', methods: ['eth_getTransactionByHash'], answer: nothing },
  'receipt pruned': {
    nature: 'pruned',
    methods: ['eth_getTransactionReceipt'],
    answer: ({ truth, height }) => {
      const receipt = 'result' in truth ? (truth.result as { blockNumber?: unknown } | null) : null;
      return isOld(receipt?.blockNumber, height) ? { result: null } : undefined;
    },
  },
  'receipts of a block pruned': {
    nature: 'pruned',
    methods: ['eth_getBlockReceipts'],
    answer: ({ call, height }) => (isOld(call.params[0], height) ? { result: null } : undefined),
  },
  'inclusion forged': { nature: 'lie', methods: ['eth_getTransactionReceipt'], answer: forged },
  'count too low': { nature: 'lie', methods: COUNT, answer: shifted((unit) => -1 - Math.floor(unit * 4)) },
  'count too high': { nature: 'lie', methods: COUNT, answer: shifted((unit) => 1 + Math.floor(unit * 4)) },
  'count far too high': {
    nature: 'lie',
    methods: COUNT,
    answer: shifted((unit) => 1_000 + Math.floor(unit * 100_000)),
  },
  'no balance': {
    nature: 'lie',
    methods: ['eth_getBalance'],
    answer: ({ truth }) => ('result' in truth && truth.result !== '0x0' ? { result: '0x0' } : undefined),
  },
  'wrong hash': {
    nature: 'lie',
    methods: SEND,
    answer: ({ truth, unit }) =>
      'result' in truth
        ? {
            result: `0x${Math.floor(unit * 2 ** 48)
              .toString(16)
              .padStart(64, 'b')}`,
          }
        : undefined,
  },
  'transaction dropped in silence': {
    nature: 'lie',
    methods: SEND,
    answer: ({ call }) => ({ result: keccak256(String(call.params[0])) }),
    reachesNode: false,
  },
  ...falseRefusals(),
} as const satisfies Record<string, CallFaultOf>;

export type CallFault = keyof typeof CALL_FAULTS;
export type Fault = RequestFault | CallFault;

/** How likely each fault is for a request or a call that it can befall, from 0 to 1; absent: never. */
export type FaultRates = Partial<Record<Fault, number>>;

const natureOf = (fault: Fault): FaultNature =>
  fault in REQUEST_FAULTS ? REQUEST_FAULTS[fault as RequestFault] : CALL_FAULTS[fault as CallFault].nature;

/** Every fault of the given natures at one rate. */
export function ratesFor(natures: readonly FaultNature[], rate: number): FaultRates {
  const all = [...Object.keys(REQUEST_FAULTS), ...Object.keys(CALL_FAULTS)] as Fault[];
  return Object.fromEntries(all.filter((fault) => natures.includes(natureOf(fault))).map((fault) => [fault, rate]));
}

/** The fault of one draw among those that are possible: none when the draw is above the sum of their rates. */
export function faultAt<F extends Fault>(possible: readonly F[], rates: FaultRates, unit: number): F | undefined {
  let bound = 0;
  return possible.find((fault) => {
    bound += rates[fault] ?? 0;
    return unit < bound;
  });
}

/** The faults that can befall a call, without lies and lag for an endpoint that tells the truth at the moment. */
export function faultsOfCall({ method }: ProxiedCall, truthful: boolean): CallFault[] {
  return (Object.keys(CALL_FAULTS) as CallFault[])
    .filter((fault) => (CALL_FAULTS[fault].methods as readonly string[]).includes(method))
    .filter((fault) => !truthful || natureOf(fault) === 'pruned');
}
