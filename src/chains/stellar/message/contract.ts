import { Address, nativeToScVal, scValToBigInt, xdr } from '@stellar/stellar-sdk/base';
import type { WireAuthorization, WireContractOperation, WireCreateContract } from '../form/contract.ts';
import { consentOf, parseAuthorizationEntry } from './authorization.ts';
import { contractValueOf } from './contract-value.ts';

const Function = xdr.HostFunction;

const readValue = (value: unknown): xdr.ScVal => contractValueOf(value);

const NO_SALT = '00'.repeat(32);

/** A call of a contract's function. */
export function contractCall(contract: string, name: string, args: readonly xdr.ScVal[]): xdr.InvokeContractArgs {
  return new xdr.InvokeContractArgs({
    contractAddress: new Address(contract).toScAddress(),
    functionName: name,
    args: [...args],
  });
}

/** The same as an operation, without consents. */
export function callOperation(contract: string, name: string, args: readonly xdr.ScVal[]): xdr.Operation {
  const hostFunction = Function.hostFunctionTypeInvokeContract(contractCall(contract, name, args));
  const body = xdr.OperationBody.invokeHostFunction(new xdr.InvokeHostFunctionOp({ hostFunction, auth: [] }));
  return new xdr.Operation({ sourceAccount: null, body });
}

export function addressValue(address: string): xdr.ScVal {
  return Address.fromString(address).toScVal();
}

/** An amount of a token (SEP-41). */
export function amountValue(amount: bigint): xdr.ScVal {
  return nativeToScVal(amount, { type: 'i128' });
}

export function listValue(values: readonly xdr.ScVal[]): xdr.ScVal {
  return xdr.ScVal.scvVec([...values]);
}

/** @throws TypeError for a value that is no amount of a token */
export function amountOfValue(value: xdr.ScVal | null | undefined): bigint {
  const amount = value?.type === 'scvI128' ? scValToBigInt(value) : -1n;
  if (amount < 0n) throw new TypeError('not an amount of a token');
  return amount;
}

/** The call of the network's host that an operation stands for. */
export function hostFunctionOf(operation: WireContractOperation): xdr.HostFunction {
  switch (operation.type) {
    case 'invoke_contract': {
      const { contract_address: contract, function_name: name, args } = operation;
      return Function.hostFunctionTypeInvokeContract(contractCall(contract, name, args.map(readValue)));
    }
    case 'create_contract':
      return creationOf(operation);
    case 'upload_wasm':
      return Function.hostFunctionTypeUploadContractWasm(codeOf(operation.wasm));
    default:
      return operation satisfies never;
  }
}

/** The creation of a contract. The older form knows no constructor. */
function creationOf({ source, wasm_hash: hash, salt, constructor_args: args }: WireCreateContract): xdr.HostFunction {
  const address = new Address(source.from === 'address' ? source.address : source.contract).toScAddress();
  const contractIdPreimage = xdr.ContractIdPreimage.contractIdPreimageFromAddress(
    new xdr.ContractIdPreimageFromAddress({ address, salt: Buffer.from(salt ?? NO_SALT, 'hex') }),
  );
  const executable = xdr.ContractExecutable.contractExecutableWasm(Buffer.from(hash, 'hex'));
  if (args == null || args.length === 0) {
    return Function.hostFunctionTypeCreateContract(new xdr.CreateContractArgs({ contractIdPreimage, executable }));
  }
  const constructorArgs = args.map(readValue);
  return Function.hostFunctionTypeCreateContractV2(
    new xdr.CreateContractArgsV2({ contractIdPreimage, executable, constructorArgs }),
  );
}

function codeOf(wasm: { hex: string } | { base64: string }): Buffer {
  return 'hex' in wasm ? Buffer.from(wasm.hex, 'hex') : Buffer.from(wasm.base64, 'base64');
}

/** The consents that a client names; null where the simulation is to find out which are needed. */
export function consentsOf(operation: WireContractOperation): xdr.SorobanAuthorizationEntry[] | null {
  const auth: WireAuthorization | null | undefined = operation.auth;
  switch (auth?.type) {
    case undefined:
      return null;
    case 'none':
    // The form of requests refuses `addresses`.
    case 'addresses':
      return [];
    case 'source_account': {
      const consent = consentOf(hostFunctionOf(operation));
      return consent === undefined ? [] : [consent];
    }
    case 'xdr':
      return auth.entries.map(readEntry);
    default:
      return auth satisfies never;
  }
}

function readEntry(text: string): xdr.SorobanAuthorizationEntry {
  const entry = parseAuthorizationEntry(text);
  if (entry === undefined) throw new TypeError('not a consent');
  return entry;
}
