import { xdr } from '@stellar/stellar-sdk';

/** The codes with which the asset's contract fails (`ContractError` of soroban-env-host). */
export const CONTRACT_ERRORS = {
  operationNotSupported: 2,
  alreadyInitialized: 3,
  unauthorized: 4,
  authentication: 5,
  accountMissing: 6,
  negativeAmount: 8,
  allowance: 9,
  balance: 10,
  balanceDeauthorized: 11,
  trustLineMissing: 13,
} as const;

/** Why a host function ends without effect. */
export class HostError extends Error {
  readonly error: xdr.ScError;
  readonly data: readonly xdr.ScVal[];

  constructor(error: xdr.ScError, message: string, ...data: readonly xdr.ScVal[]) {
    super(message);
    this.name = 'HostError';
    this.error = error;
    this.data = data;
  }
}

type Kind = 'Auth' | 'Storage' | 'Value' | 'Context' | 'Object' | 'Budget' | 'WasmVm' | 'Crypto';
type Code = 'InvalidAction' | 'InvalidInput' | 'MissingValue' | 'ExistingValue' | 'ExceededLimit' | 'UnexpectedType';

/** An error of the host's own. */
export function hostError(kind: Kind, code: Code, message: string, ...data: readonly xdr.ScVal[]): HostError {
  const named = xdr.ScErrorCode.fromName(CODE_NAMES[code]);
  return new HostError(xdr.ScError[`sce${kind}`](named), message, ...data);
}

const CODE_NAMES = {
  InvalidAction: 'scecInvalidAction',
  InvalidInput: 'scecInvalidInput',
  MissingValue: 'scecMissingValue',
  ExistingValue: 'scecExistingValue',
  ExceededLimit: 'scecExceededLimit',
  UnexpectedType: 'scecUnexpectedType',
} as const;

/** An error that a contract ends with. */
export function contractError(code: number, message: string, ...data: readonly xdr.ScVal[]): HostError {
  return new HostError(xdr.ScError.sceContract(code), message, ...data);
}

/** `Error(Contract, #10)`, `Error(Auth, InvalidAction)`: as the host words it. */
export function wordedError(error: xdr.ScError): string {
  if (error.type === 'sceContract') return `Error(Contract, #${error.contractCode})`;
  const { name } = error.code;
  return `Error(${error.type.slice(3)}, ${name.slice(4)})`;
}
