import { Address, xdr } from '@stellar/stellar-sdk/base';
import type { WireAuthorization } from '../form/authorization.ts';
import type { WireContractOperation, WireCreateContract, WireInvokeContract } from '../form/contract.ts';
import { entryIn } from './authorization.ts';
import { contractValueOf } from './contract-value.ts';

const Function = xdr.HostFunction;
const Authorized = xdr.SorobanAuthorizedFunction;

const NO_SALT = '00'.repeat(32);

/** The call of the network's host that an operation stands for. */
export function hostFunctionOf(operation: WireContractOperation): xdr.HostFunction {
  switch (operation.type) {
    case 'invoke_contract':
      return Function.hostFunctionTypeInvokeContract(invocationOf(operation));
    case 'create_contract':
      return creationOf(operation);
    case 'upload_wasm':
      return Function.hostFunctionTypeUploadContractWasm(codeOf(operation.wasm));
    default:
      return operation satisfies never;
  }
}

function invocationOf({ contract_address: at, function_name: name, args }: WireInvokeContract): xdr.InvokeContractArgs {
  return new xdr.InvokeContractArgs({
    contractAddress: new Address(at).toScAddress(),
    functionName: name,
    args: args.map((value) => contractValueOf(value)),
  });
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
  const constructorArgs = args.map((value) => contractValueOf(value));
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
  const entry = entryIn(text);
  if (entry === undefined) throw new TypeError('not a consent');
  return entry;
}

/** The source's consent to the call itself, and to no call below it; undefined where no consent is needed. */
export function consentOf(asked: xdr.HostFunction): xdr.SorobanAuthorizationEntry | undefined {
  const authorized = authorizedFunctionOf(asked);
  if (authorized === undefined) return undefined;
  return new xdr.SorobanAuthorizationEntry({
    credentials: xdr.SorobanCredentials.sorobanCredentialsSourceAccount(),
    rootInvocation: new xdr.SorobanAuthorizedInvocation({ function: authorized, subInvocations: [] }),
  });
}

/** What a consent to a call names; undefined where no consent is needed. */
export function authorizedFunctionOf(asked: xdr.HostFunction): xdr.SorobanAuthorizedFunction | undefined {
  switch (asked.type) {
    case 'hostFunctionTypeInvokeContract':
      return Authorized.sorobanAuthorizedFunctionTypeContractFn(asked.invokeContract);
    case 'hostFunctionTypeCreateContract':
      return Authorized.sorobanAuthorizedFunctionTypeCreateContractHostFn(asked.createContract);
    case 'hostFunctionTypeCreateContractV2':
      return Authorized.sorobanAuthorizedFunctionTypeCreateContractV2HostFn(asked.createContractV2);
    case 'hostFunctionTypeUploadContractWasm':
      return undefined;
    default:
      return asked satisfies never;
  }
}
