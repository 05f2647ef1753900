import { StrKey, xdr } from '@stellar/stellar-sdk';
import { type Fields, fieldsOf, textIn, textsIn } from './params.ts';
import { invalidParams } from './rpc-error.ts';

/** Whether an event matches the filter. */
export type EventFilter = (event: xdr.ContractEvent) => boolean;

const MAX = 5;
const MAX_SEGMENTS = 4;
const ONE = '*';
const REST = '**';

/**
 * Makes the filter of a call. One of the given filters must match; without any, all events match.
 * @throws RpcError
 */
export function eventFilterIn(fields: Fields): EventFilter {
  const filters = fields['filters'] ?? [];
  if (!Array.isArray(filters)) throw invalidParams('invalid parameters');
  if (filters.length > MAX) throw invalidParams('maximum 5 filters per request');
  const all = filters.map((filter, index) => {
    const refuse = (why: string) => invalidParams(`filter ${index + 1} invalid: ${why}`);
    return one(fieldsOf(filter), refuse);
  });
  return (event) => all.length === 0 || all.some((fits) => fits(event));
}

function one(fields: Fields, refuse: (why: string) => Error): EventFilter {
  const types = textIn(fields, 'type').split(',').filter(Boolean);
  if (types.some((type) => type !== 'system' && type !== 'contract')) {
    throw refuse("filter type invalid: if set, type must be either 'system' or 'contract'");
  }
  const contracts = textsIn(fields, 'contractIds');
  if (contracts.length > MAX) throw refuse('maximum 5 contract IDs per filter');
  const bad = contracts.findIndex((id) => !StrKey.isValidContract(id));
  if (bad >= 0) throw refuse(`contract ID ${bad + 1} invalid`);
  const topics = fields['topics'] ?? [];
  if (!Array.isArray(topics)) throw invalidParams('invalid parameters');
  if (topics.length > MAX) throw refuse('maximum 5 topics per filter');
  const patterns = topics.map((_, index) => {
    const segments = textsIn(topics as unknown as Fields, String(index));
    return pattern(segments, (why) => refuse(`topic ${index + 1} invalid: ${why}`));
  });
  return ({ type, contractId, body }) =>
    (types.length === 0 || types.includes(type.name)) &&
    (contracts.length === 0 ||
      (contractId !== null && contracts.includes(StrKey.encodeContract(contractId.toBytes())))) &&
    (patterns.length === 0 || patterns.some((fits) => fits(body.v0.topics)));
}

/** Segments are base64 values or wildcards. A wildcard matches one value, or at the end any number of values. */
function pattern(segments: readonly string[], refuse: (why: string) => Error) {
  const isOpen = segments.at(-1) === REST;
  const fixed = isOpen ? segments.slice(0, -1) : segments;
  if (segments.length === 0) throw refuse('topic must have at least 1 segment');
  const misplaced = fixed.indexOf(REST);
  if (misplaced >= 0) {
    throw refuse(`segment ${misplaced + 1} invalid: wildcard '**' is only allowed as the last segment`);
  }
  if (fixed.length > MAX_SEGMENTS) throw refuse('topic cannot have more than 4 segments');
  for (const segment of fixed) if (segment !== ONE) mustBeValue(segment);
  return (topics: readonly xdr.ScVal[]): boolean =>
    (isOpen ? topics.length >= fixed.length : topics.length === fixed.length) &&
    fixed.every((segment, index) => segment === ONE || topics[index]?.toXdr('base64') === segment);
}

function mustBeValue(text: string): void {
  try {
    xdr.ScVal.fromXdr(text, 'base64');
  } catch {
    throw invalidParams('invalid parameters');
  }
}
