import { setTimeout as sleep } from 'node:timers/promises';
import { AbiCoder, ErrorFragment, type ParamType, Result } from 'ethers/abi';
import type { Json, JsonObject } from '../../../domain/json/json.ts';
import { printable } from '../../../domain/printable.ts';
import { isNodeError, type ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { normalAddress } from '../address.ts';
import { isParsableErrorAbi } from '../form/error-abi.ts';
import { toQuantity } from '../rpc-calls.ts';
import { callForEstimate, type EvmFields, readStoredRequest } from '../schema.ts';

/** The reason of a failed transaction whose cause was not asked for, or could not be found. */
export const REVERTED = 'Transaction reverted on-chain (receipt status: failed)';

/** Why a transaction failed in its block. */
export interface Revert {
  /** For `status_reason`. */
  reason: string;
  /** The revert data, `0x` and hexadecimal digits, cut at {@link MAX_DATA}; null if it is unknown. */
  data: string | null;
}

/** A transaction whose receipt says that it failed. */
export interface FailedTransaction {
  /** As stored. */
  request: JsonObject;
  fields: EvmFields | undefined;
  hash: string;
  block: bigint;
  gasUsed: bigint | null;
}

/** Characters of revert data that are shown and kept. */
const MAX_DATA = 4_096;
const MAX_DECODED = 1_000;
/** No real error has more data than this. Decoding more would only take time. */
const MAX_DECODED_BYTES = 32_768;
const WORD_BYTES = 32;
/**
 * The most values that are decoded. All items of an array can point to the same array: a few kilobytes of data can be
 * billions of values.
 */
const MAX_DECODED_VALUES = 2_048;
const MAX_ERRORS = 512;

/** How long the status of a transaction waits for its cause. */
const PATIENCE_MS = 3_000;

const UNKNOWN: Revert = { reason: REVERTED, data: null };
const OUT_OF_GAS: Revert = { reason: `${REVERTED} — out of gas`, data: null };

/**
 * Finds out why a transaction reverted: from a trace, else by making the same call again on the state of its block.
 * Best effort: failures do not count against the node. Never throws, and takes a few seconds at most.
 */
export async function revertReason(
  read: ReadFromEndpoint,
  failed: FailedTransaction,
  patienceMs: number = PATIENCE_MS,
): Promise<Revert> {
  const patience = new AbortController();
  const unknown = usedAllGas(failed.gasUsed, failed.fields) ? OUT_OF_GAS : UNKNOWN;
  const over = sleep(patienceMs, unknown, { signal: patience.signal, ref: false });
  try {
    return (await Promise.race([findReason(read, failed), over])) ?? unknown;
  } catch {
    return unknown;
  } finally {
    over.catch(() => {});
    patience.abort();
  }
}

/** Whether a transaction used all its gas, as one does that runs out of gas. */
export function usedAllGas(gasUsed: bigint | null, fields: EvmFields | undefined): boolean {
  return gasUsed === BigInt(fields?.gas_limit ?? 0);
}

/** Undefined where neither way tells more than the receipt. */
async function findReason(read: ReadFromEndpoint, failed: FailedTransaction): Promise<Revert | undefined> {
  const trace = await traceOf(read, failed.hash).catch(() => undefined);
  const data = trace === undefined ? await calledAgain(read, failed) : trace.output;
  if (data !== null) return { reason: reasonOf(data, failed.request), data: data.slice(0, MAX_DATA) };
  const cause = trace?.error ?? '';
  if (cause === '') return undefined;
  // The fixed text already says all that there is to say of a revert without data.
  return /revert/i.test(cause) ? UNKNOWN : { reason: `${REVERTED} — ${cause}`, data: null };
}

interface Trace {
  output: string | null;
  error: string;
}

function traceOf(read: ReadFromEndpoint, hash: string): Promise<Trace | undefined> {
  const options = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } };
  const toTrace = (answer: Json): Trace | undefined => {
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined;
    const { output, error } = answer;
    // A trace with neither is of a call that went well, so of something else.
    if (output === undefined && error === undefined) return undefined;
    return { output: dataIn(output), error: typeof error === 'string' ? printable(error, 200) : '' };
  };
  return read('debug_traceTransaction', [hash, options], toTrace, { bestEffort: true });
}

async function calledAgain(
  read: ReadFromEndpoint,
  { request, fields, block }: FailedTransaction,
): Promise<string | null> {
  if (fields === undefined) return null;
  const call = { ...callForEstimate(readStoredRequest(request), normalAddress(fields.from)), ...limitsOf(fields) };
  try {
    await read('eth_call', [call, toQuantity(block)], (answer) => answer, { bestEffort: true });
    return null;
  } catch (error) {
    return isNodeError(error) ? dataIn(error.data) : null;
  }
}

function limitsOf(fields: EvmFields): JsonObject {
  const quantity = (amount: number | string) => toQuantity(BigInt(amount));
  const { gas_price: gasPrice, max_fee_per_gas: maxFee, max_priority_fee_per_gas: priorityFee } = fields;
  return {
    gas: quantity(fields.gas_limit),
    ...(gasPrice === undefined ? {} : { gasPrice: quantity(gasPrice) }),
    ...(maxFee === undefined ? {} : { maxFeePerGas: quantity(maxFee) }),
    ...(priorityFee === undefined ? {} : { maxPriorityFeePerGas: quantity(priorityFee) }),
  };
}

/**
 * Revert data in the forms of the nodes: bare (geth, besu, nethermind, anvil), behind a word (openethereum: `Reverted
 * 0x…`), in an object (hardhat: `data`, ganache: `result`). Null for none and for an empty one.
 */
function dataIn(value: Json | undefined, depth = 0): string | null {
  if (typeof value === 'string')
    return /^(?:Reverted )?(0x(?:[0-9a-fA-F]{2})+)$/.exec(value)?.[1]?.toLowerCase() ?? null;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > 2) return null;
  return dataIn(value['data'] ?? value['result'] ?? value['output'], depth + 1);
}

function reasonOf(data: string, request: JsonObject): string {
  const shown = data.length > MAX_DATA ? `${data.slice(0, MAX_DATA)}...(truncated)` : data;
  const decoded = decodeRevertData(data, request['abi']);
  return `Transaction reverted on-chain (revert_data: ${shown})${decoded === undefined ? '' : ` — ${decoded}`}`;
}

/** What the data say: `Error("…")`, `Panic(0x11: …)`, or an error of the given ABI with its arguments. */
export function decodeRevertData(data: string, abi?: Json): string | undefined {
  if (data.length > 2 * MAX_DECODED_BYTES) return undefined;
  try {
    const text = standardError(data) ?? customError(data, abi);
    return text === undefined ? undefined : printable(text, MAX_DECODED);
  } catch {
    // The data only looks like an error of that form.
    return undefined;
  }
}

/** The two errors that the compiler makes itself (Solidity documentation, "Panic via assert and Error via require"). */
function standardError(data: string): string | undefined {
  const selector = data.slice(0, 10);
  const body = `0x${data.slice(10)}`;
  if (selector === '0x08c379a0') {
    const [text] = AbiCoder.defaultAbiCoder().decode(['string'], body);
    return `Error(${JSON.stringify(String(text))})`;
  }
  if (selector !== '0x4e487b71') return undefined;
  const [code] = AbiCoder.defaultAbiCoder().decode(['uint256'], body);
  const hex = BigInt(String(code)).toString(16).padStart(2, '0');
  const meaning = PANICS[hex];
  return `Panic(0x${hex}${meaning === undefined ? '' : `: ${meaning}`})`;
}

/** Solidity documentation, the same section. */
const PANICS: Readonly<Record<string, string>> = {
  '00': 'generic',
  '01': 'assertion failed',
  '11': 'arithmetic overflow',
  '12': 'division by zero',
  '21': 'value out of the range of an enum',
  '22': 'storage byte array wrongly encoded',
  '31': 'pop of an empty array',
  '32': 'index out of bounds',
  '41': 'too much memory',
  '51': 'call of an uninitialised function',
};

function customError(data: string, abi: Json | undefined): string | undefined {
  if (!Array.isArray(abi)) return undefined;
  const selector = data.slice(0, 10);
  const error = abi
    .slice(0, MAX_ERRORS)
    .map(errorOf)
    .find((one) => one?.selector === selector);
  if (error === undefined) return undefined;
  const words = Math.ceil(data.length / 2 / WORD_BYTES);
  if (mostValues(error.inputs, words) > MAX_DECODED_VALUES) return undefined;
  const args = AbiCoder.defaultAbiCoder().decode(error.inputs, `0x${data.slice(10)}`);
  const names = error.inputs.map(({ name }) => name);
  return `${error.name}(${argumentsText(args, names)})`;
}

/**
 * Reads a stored error. Undefined for anything else, and for an error that takes long to parse: such errors were once
 * accepted.
 */
function errorOf(fragment: Json): ErrorFragment | undefined {
  if (!isParsableErrorAbi(fragment)) return undefined;
  try {
    return ErrorFragment.from(fragment);
  } catch {
    return undefined;
  }
}

/** The most values that data of so many words can have. A text counts by its words. */
function mostValues(types: readonly ParamType[], words: number): number {
  return types.reduce((sum, type) => {
    if (type.isArray()) {
      const length = type.arrayLength === -1 ? words : type.arrayLength;
      return sum + 1 + length * mostValues([type.arrayChildren], words);
    }
    if (type.isTuple()) return sum + 1 + mostValues(type.components, words);
    return sum + (type.type === 'string' || type.type === 'bytes' ? words : 1);
  }, 0);
}

function argumentsText(args: Result, names: readonly string[]): string {
  return args
    .toArray()
    .map((value, index) => `${names[index] ? `${names[index]}: ` : ''}${valueText(value)}`)
    .join(', ');
}

function valueText(value: unknown): string {
  if (value instanceof Result) return `[${value.toArray().map(valueText).join(', ')}]`;
  if (typeof value === 'string') return /^0x[0-9a-fA-F]*$/.test(value) ? value : JSON.stringify(value);
  return String(value);
}
