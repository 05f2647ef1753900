import { keccak256, Transaction } from 'ethers';
import {
  type CallFault,
  type CallFaults,
  fromThePast,
  nothing,
  type ProxiedAnswer,
  type ProxiedCall,
} from './faults.ts';

const COUNT = ['eth_getTransactionCount'];
const SEND = ['eth_sendRawTransaction'];
const RECEIPT = ['eth_getTransactionReceipt'];
const RECEIPTS = ['eth_getBlockReceipts'];

/** The number of blocks whose receipts a pruning node keeps. */
const KEPT_BLOCKS = 6;

/** What one proxy has seen of an EVM chain. */
class Memory {
  /** The highest block that the node has reported. */
  height = 0;
  /** Bytes by their hash. */
  readonly #sent = new Map<string, string>();

  learn({ method, params }: ProxiedCall, truth: ProxiedAnswer): void {
    if (method === 'eth_sendRawTransaction') this.#sent.set(keccak256(String(params[0])), String(params[0]));
    if (!('result' in truth)) return;
    const { result } = truth;
    const told = method === 'eth_getBlockByNumber' ? (result as { number?: unknown } | null)?.number : result;
    if (method !== 'eth_blockNumber' && method !== 'eth_getBlockByNumber') return;
    if (typeof told === 'string') this.height = Math.max(this.height, Number(told));
  }

  /** The signer of the bytes that were sent through this proxy under a hash; undefined for other hashes. */
  senderOf(hash: string): string | undefined {
    const raw = this.#sent.get(hash);
    return raw === undefined ? undefined : Transaction.from(raw).from?.toLowerCase();
  }

  isOld(block: unknown): boolean {
    return typeof block === 'string' && Number(block) <= this.height - KEPT_BLOCKS;
  }
}

/** What can be wrong with the answers of an EVM node. */
export function evmCallFaults(): CallFaults {
  const memory = new Memory();
  return { table: tableOf(memory), learn: (call, truth) => memory.learn(call, truth) };
}

function tableOf(memory: Memory): Record<string, CallFault> {
  return {
    'count of earlier': { nature: 'lag', methods: COUNT, answer: fromThePast },
    'height of earlier': { nature: 'lag', methods: ['eth_blockNumber'], answer: fromThePast },
    'block of earlier': { nature: 'lag', methods: ['eth_getBlockByNumber'], answer: fromThePast },
    'no receipt': { nature: 'lag', methods: RECEIPT, answer: nothing },
    'no receipts of a block': { nature: 'lag', methods: RECEIPTS, answer: nothing },
    'no transaction': { nature: 'lag', methods: ['eth_getTransactionByHash'], answer: nothing },
    'receipt pruned': {
      nature: 'pruned',
      methods: RECEIPT,
      answer: ({ truth }) => {
        const receipt = 'result' in truth ? (truth.result as { blockNumber?: unknown } | null) : null;
        return memory.isOld(receipt?.blockNumber) ? { result: null } : undefined;
      },
    },
    'receipts of a block pruned': {
      nature: 'pruned',
      methods: RECEIPTS,
      answer: ({ call }) => (memory.isOld(call.params[0]) ? { result: null } : undefined),
    },
    'inclusion forged': { nature: 'lie', methods: RECEIPT, answer: forgedBy(memory) },
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
      answer: ({ truth, unit }) => ('result' in truth ? { result: hashFrom(unit) } : undefined),
    },
    'transaction dropped in silence': {
      nature: 'lie',
      methods: SEND,
      answer: ({ call }) => ({ result: keccak256(String(call.params[0])) }),
      reachesNode: false,
    },
    ...falseRefusals(),
    ...oddAnswers(),
  };
}

/** Errors of hosted providers that say nothing about the call. */
const NO_ESTIMATES = {
  'header not found': -32_000,
  'execution aborted (timeout = 5s)': -32_000,
  'failed to fetch state: context canceled': -32_000,
  'daily request count exceeded, request rate limited': -32_005,
  'Temporary internal error. Please retry, trace-id: 1': 19,
  'Request timeout on the free tier, please upgrade': 30,
};

function oddAnswers(): Record<string, CallFault> {
  const estimates = Object.entries(NO_ESTIMATES).map(([message, code]): [string, CallFault] => [
    `no estimate, "${message}"`,
    { nature: 'odd', methods: ['eth_estimateGas'], answer: () => ({ error: { code, message } }) },
  ]);
  const noSuch = (message: string) => () => ({ error: { code: -32_600, message } });
  return {
    ...Object.fromEntries(estimates),
    'negative rewards': {
      nature: 'odd',
      methods: ['eth_feeHistory'],
      answer: () => ({ result: { reward: [['-0xfd', '-0xfd', '-0xfd', '-0xfd']] } }),
    },
    'count that jumps': { nature: 'odd', methods: COUNT, answer: shifted(() => 500) },
    'no fee history': { nature: 'odd', methods: ['eth_feeHistory'], answer: noSuch('Unsupported method') },
    'no suggested tip': { nature: 'odd', methods: ['eth_maxPriorityFeePerGas'], answer: noSuch('Unsupported method') },
    'pending unknown': {
      nature: 'odd',
      methods: COUNT,
      answer: ({ call }) => (call.params[1] === 'pending' ? noSuch('Unsupported block tag pending')() : undefined),
    },
    'receipt with odd figures': {
      nature: 'odd',
      methods: RECEIPT,
      answer: ({ truth }) => {
        const receipt = 'result' in truth ? truth.result : null;
        if (typeof receipt !== 'object' || receipt === null) return undefined;
        return { result: { ...receipt, contractAddress: '0x', gasUsed: null, effectiveGasPrice: '0x' } };
      },
    },
    'block without a gas limit': {
      nature: 'odd',
      methods: ['eth_getBlockByNumber'],
      answer: ({ truth }) => {
        const block = 'result' in truth ? truth.result : null;
        return typeof block === 'object' && block !== null ? { result: { ...block, gasLimit: undefined } } : undefined;
      },
    },
  };
}

function hashFrom(unit: number): string {
  const digits = Math.floor(unit * 2 ** 48).toString(16);
  return `0x${digits.padStart(64, 'b')}`;
}

function shifted(shift: (unit: number) => number): CallFault['answer'] {
  return ({ truth, unit }) => {
    if (!('result' in truth) || typeof truth.result !== 'string') return undefined;
    const count = BigInt(truth.result) + BigInt(shift(unit));
    const told = `0x${(count < 0n ? 0n : count).toString(16)}`;
    return told === truth.result ? undefined : { result: told };
  };
}

/** Forges the answer of a node that has the transaction in a block far below. All of it is false. */
function forgedBy(memory: Memory): CallFault['answer'] {
  return ({ call, truth, unit }) => {
    const hash = String(call.params[0]);
    const from = memory.senderOf(hash);
    if (from === undefined || !('result' in truth) || truth.result !== null) return undefined;
    return {
      result: {
        transactionHash: hash,
        from,
        status: unit < 0.8 ? '0x1' : '0x0',
        blockNumber: `0x${Math.max(memory.height - Math.floor(unit * 20), 1).toString(16)}`,
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
}

/** Texts of go-ethereum (core/txpool/errors.go, core/error.go), which other clients and gateways repeat. */
const FALSE_REFUSALS = {
  'nonce too low': 'nonce too low: next nonce 4096, tx nonce 0',
  'insufficient funds': 'insufficient funds for gas * price + value: balance 0, tx cost 21001',
  'already known': 'already known',
  underpriced: 'replacement transaction underpriced',
};

function falseRefusals(): Record<string, CallFault> {
  const refusal = (message: string) => () => ({ error: { code: -32_000, message } });
  const entries = Object.entries(FALSE_REFUSALS).flatMap(([name, message]): [string, CallFault][] => [
    [`kept from the node, "${name}"`, { nature: 'lie', methods: SEND, answer: refusal(message), reachesNode: false }],
    [`done by the node, "${name}"`, { nature: 'lie', methods: SEND, answer: refusal(message) }],
  ]);
  return Object.fromEntries(entries);
}
