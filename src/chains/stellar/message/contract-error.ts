import { xdr } from '@stellar/stellar-sdk/base';
import { isObject } from '../../../domain/json/json.ts';
import { integerIn } from './contract-integer.ts';
import { ValueFault, within } from './value-fault.ts';

/** The kinds of errors of the host, by their names in JSON. */
const KINDS: Readonly<Record<string, (code: xdr.ScErrorCode) => xdr.ScError>> = {
  wasm_vm: (code) => xdr.ScError.sceWasmVm(code),
  context: (code) => xdr.ScError.sceContext(code),
  storage: (code) => xdr.ScError.sceStorage(code),
  object: (code) => xdr.ScError.sceObject(code),
  crypto: (code) => xdr.ScError.sceCrypto(code),
  events: (code) => xdr.ScError.sceEvents(code),
  budget: (code) => xdr.ScError.sceBudget(code),
  value: (code) => xdr.ScError.sceValue(code),
  auth: (code) => xdr.ScError.sceAuth(code),
};

const CODES: Readonly<Record<string, xdr.ScErrorCode>> = {
  arith_domain: xdr.ScErrorCode.scecArithDomain,
  index_bounds: xdr.ScErrorCode.scecIndexBounds,
  invalid_input: xdr.ScErrorCode.scecInvalidInput,
  missing_value: xdr.ScErrorCode.scecMissingValue,
  existing_value: xdr.ScErrorCode.scecExistingValue,
  exceeded_limit: xdr.ScErrorCode.scecExceededLimit,
  invalid_action: xdr.ScErrorCode.scecInvalidAction,
  internal_error: xdr.ScErrorCode.scecInternalError,
  unexpected_type: xdr.ScErrorCode.scecUnexpectedType,
  unexpected_size: xdr.ScErrorCode.scecUnexpectedSize,
};

/**
 * An error as a value: `{"contract": 7}`, `{"auth": "invalid_action"}`.
 * @throws ValueFault
 */
export function errorValueOf(value: unknown): xdr.ScError {
  const [kind, ...more] = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || kind === undefined || more.length > 0) throw new ValueFault('expected one kind of error');
  const inside = value[kind];
  return within(kind, () => {
    if (kind === 'contract') return xdr.ScError.sceContract(Number(integerIn(inside, 0n, 2n ** 32n - 1n)));
    const make = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (make === undefined) throw new ValueFault(`expected one of contract, ${Object.keys(KINDS).join(', ')}`);
    const code = typeof inside === 'string' && Object.hasOwn(CODES, inside) ? CODES[inside] : undefined;
    if (code === undefined) throw new ValueFault(`expected one of ${Object.keys(CODES).join(', ')}`);
    return make(code);
  });
}
