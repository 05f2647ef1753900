import { StrKey, xdr } from '@stellar/stellar-sdk';
import { addressOf, addressXdr, masterKeyOf } from '../ledger/address.ts';
import type { AccountEntry, AccountId, ContractCodeEntry, Header } from '../ledger/entry.ts';
import { sha256 } from '../transactions/frame.ts';
import { verifyEd25519 } from '../transactions/signature-checker.ts';
import { type AuthMode, Authorization } from './authorization.ts';
import { ContractEvents } from './contract-events.ts';
import { CONTRACT_ERRORS, contractError, HostError, hostError, wordedError } from './host-error.ts';
import { instanceIn, newInstance, writeInstance } from './instance.ts';
import { SETTINGS } from './settings.ts';
import { ledgerKey, type Storage } from './storage.ts';
import { read, value } from './values.ts';

const MAX_SIGNATURES = 20;

/** Whether an account's signers reach its medium threshold over a payload. @throws HostError if not */
function authenticateAccount(storage: Storage, id: AccountId, payload: Buffer, signature: xdr.ScVal): void {
  const refuse = (message: string) => contractError(CONTRACT_ERRORS.authentication, message);
  const signatures = read.vec(signature);
  if (signatures.length > MAX_SIGNATURES) throw refuse('too many account signers');
  if (signatures.length === 0) throw refuse('no account signatures found');
  const account = storage.get(ledgerKey.account(id)) as AccountEntry | undefined;
  if (account === undefined) throw contractError(CONTRACT_ERRORS.accountMissing, 'account entry is missing');
  let previous: Buffer | undefined;
  let weight = 0;
  for (const one of signatures) {
    const key = Buffer.from(read.bytes(read.field(one, 'public_key')));
    if (previous !== undefined && Buffer.compare(previous, key) >= 0) throw refuse('public keys are not ordered');
    previous = key;
    if (!verifyEd25519(key, payload, read.bytes(read.field(one, 'signature')))) {
      throw hostError('Crypto', 'InvalidInput', 'failed ED25519 verification');
    }
    const own = weightOf(account, key);
    if (own === 0) throw refuse('signer does not belong to account');
    weight += own;
  }
  if (weight < account.thresholds.medium) throw refuse('signature weight is lower than threshold');
}

function weightOf(account: AccountEntry, key: Buffer): number {
  if (StrKey.encodeEd25519PublicKey(key) === account.id) return account.thresholds.master;
  const name = masterKeyOf(StrKey.encodeEd25519PublicKey(key)).toXdr('base64');
  return account.signers.find((signer) => signer.key === name)?.weight ?? 0;
}

/** Assumed instruction costs: to start, to call, and to access the ledger. */
const COSTS = { start: 1_000_000, call: 500_000, reach: 50_000 } as const;

const MAX_DEPTH = 100;

/** A function that runs in place of a contract's code on a real network. */
export type ContractFunction = (host: Host, self: string, args: readonly xdr.ScVal[]) => xdr.ScVal;

export interface Contract {
  readonly functions: Readonly<Record<string, ContractFunction>>;
}

export interface HostSurroundings {
  /** Returns the implementation in place of a contract's code. */
  readonly contractOf: (executable: xdr.ContractExecutable) => Contract;
  readonly storage: Storage;
  readonly header: Header;
  readonly networkId: Buffer;
  /** The source of the operation. */
  readonly source: AccountId;
  readonly auth: AuthMode;
}

interface Frame {
  /** Undefined while a contract is made. */
  readonly contract: string | undefined;
  readonly asked: (args?: readonly xdr.ScVal[]) => xdr.SorobanAuthorizedFunction;
}

/**
 * Performs one host function. It does for some contracts in TypeScript what soroban-env-host does for those in
 * WebAssembly.
 */
export class Host {
  readonly storage: Storage;
  readonly header: Header;
  readonly events = new ContractEvents();
  readonly authorization: Authorization;
  readonly #contractOf: HostSurroundings['contractOf'];
  readonly #networkId: Buffer;
  readonly #frames: Frame[] = [];
  /** The instructions used so far. */
  instructions = COSTS.start as number;

  constructor({ contractOf, storage, header, networkId, source, auth }: HostSurroundings) {
    this.#contractOf = contractOf;
    this.storage = storage;
    this.header = header;
    this.#networkId = networkId;
    this.authorization = new Authorization(auth, {
      storage,
      source,
      networkId,
      authenticate: (address, payload, signature) => this.#authenticate(address, payload, signature),
    });
  }

  /** @throws HostError, ArchivedEntry */
  perform(asked: xdr.HostFunction): xdr.ScVal {
    switch (asked.type) {
      case 'hostFunctionTypeInvokeContract': {
        const { contractAddress, functionName, args } = asked.invokeContract;
        if (contractAddress.type !== 'scAddressTypeContract') {
          throw hostError('Value', 'UnexpectedType', 'only contracts can be invoked');
        }
        const contract = StrKey.encodeContract(contractAddress.contractId.toBytes());
        return this.call(contract, functionName.toString(), args);
      }
      case 'hostFunctionTypeUploadContractWasm':
        return this.#upload(asked.wasm);
      case 'hostFunctionTypeCreateContract': {
        const { contractIdPreimage, executable } = asked.createContract;
        const authorized = xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractHostFn(
          asked.createContract,
        );
        return this.#create(contractIdPreimage, executable, [], authorized);
      }
      case 'hostFunctionTypeCreateContractV2': {
        const { contractIdPreimage, executable, constructorArgs } = asked.createContractV2;
        const authorized = xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractV2HostFn(
          asked.createContractV2,
        );
        return this.#create(contractIdPreimage, executable, constructorArgs, authorized);
      }
      default:
        return asked satisfies never;
    }
  }

  /** Calls a contract's function, as the host or as the contract that runs. */
  call(contract: string, name: string, args: readonly xdr.ScVal[]): xdr.ScVal {
    this.instructions += COSTS.call;
    this.events.called(this.#current, contract, name, args);
    const found = this.#contractAt(contract).functions[name];
    if (found === undefined || name.startsWith('__')) {
      const message = 'trying to invoke non-existent contract function';
      throw hostError('WasmVm', 'MissingValue', message, value.symbol(name));
    }
    const result = this.#within(contract, name, args, () => found(this, contract, args));
    this.events.returned(contract, name, result);
    return result;
  }

  #within<T>(contract: string, name: string, args: readonly xdr.ScVal[], perform: () => T): T {
    if (this.#frames.length >= MAX_DEPTH) throw hostError('Context', 'ExceededLimit', 'call depth exceeded');
    const asked = (own: readonly xdr.ScVal[] = args) =>
      xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(
        new xdr.InvokeContractArgs({ contractAddress: addressXdr(contract), functionName: name, args: [...own] }),
      );
    return this.#framed({ contract, asked }, perform);
  }

  #framed<T>(frame: Frame, perform: () => T): T {
    this.#frames.push(frame);
    this.authorization.push();
    try {
      return perform();
    } catch (error) {
      if (error instanceof HostError) this.events.failed(frame.contract, error);
      throw error;
    } finally {
      this.authorization.pop();
      this.#frames.pop();
    }
  }

  get #current(): string | undefined {
    return this.#frames.at(-1)?.contract;
  }

  /** Requires this address's consent to the running function, with its arguments or with the given ones. */
  requireAuth(address: string, args?: readonly xdr.ScVal[]): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) throw new Error('Nothing runs that could be authorized.');
    this.authorization.require(address, frame.asked(args), this.#frames.at(-2)?.contract);
  }

  emit(topics: readonly xdr.ScVal[], data: xdr.ScVal): void {
    this.events.emitted(this.#current, topics, data);
  }

  /** Charges for an access to the ledger. */
  charge(): void {
    this.instructions += COSTS.reach;
  }

  #contractAt(contract: string): Contract {
    this.charge();
    const instance = instanceIn(this.storage, contract);
    if (instance === undefined) {
      const message = 'trying to get non-existing value for contract instance';
      throw hostError('Storage', 'MissingValue', message, value.address(contract));
    }
    const { executable } = instance;
    if (executable.type === 'contractExecutableWasm') {
      const hash = executable.wasmHash.toString();
      const code = this.storage.get(ledgerKey.code(hash)) as ContractCodeEntry | undefined;
      if (code === undefined) throw hostError('Storage', 'MissingValue', 'Wasm does not exist');
    }
    return this.#contractOf(executable);
  }

  #upload(wasm: Uint8Array): xdr.ScVal {
    const hash = sha256(wasm);
    const key = ledgerKey.code(hash.toString('hex'));
    if (this.storage.get(key) === undefined) {
      const liveUntil = this.header.sequence + SETTINGS.life.leastPersistent - 1;
      const code = Buffer.from(wasm).toString('base64');
      this.storage.put({ kind: 'contract-code', hash: hash.toString('hex'), code, liveUntil }, key);
    }
    return value.bytes(hash);
  }

  #create(
    preimage: xdr.ContractIdPreimage,
    executable: xdr.ContractExecutable,
    args: readonly xdr.ScVal[],
    asked: xdr.SorobanAuthorizedFunction,
  ): xdr.ScVal {
    const contract = contractIdOf(this.#networkId, preimage);
    this.#framed({ contract: undefined, asked: () => asked }, () => {
      if (preimage.type === 'contractIdPreimageFromAddress') {
        this.requireAuth(addressOf(preimage.fromAddress.address));
      }
      if (instanceIn(this.storage, contract) !== undefined) {
        throw hostError('Storage', 'ExistingValue', 'contract already exists', value.address(contract));
      }
      writeInstance(this.storage, contract, newInstance(executable, preimage));
      const build = this.#contractOf(executable).functions['__constructor'];
      if (build !== undefined) this.#within(contract, '__constructor', args, () => build(this, contract, args));
      else if (args.length > 0) throw hostError('Context', 'InvalidAction', 'the contract has no constructor');
    });
    return value.address(contract);
  }

  #authenticate(address: string, payload: Buffer, signature: xdr.ScVal): void {
    this.charge();
    const own = (error: unknown) => {
      if (!(error instanceof HostError)) throw error;
      this.events.failed(this.#current, error);
      const data = [value.address(address), value.text(wordedError(error.error))];
      throw hostError('Auth', 'InvalidAction', 'failed account authentication with error', ...data);
    };
    try {
      if (address.startsWith('G')) authenticateAccount(this.storage, address, payload, signature);
      else this.#askWallet(address, payload, signature);
    } catch (error) {
      own(error);
    }
  }

  /** Asks a contract account to check a signature, which such contracts do themselves. */
  #askWallet(wallet: string, payload: Buffer, signature: xdr.ScVal): void {
    const check = this.#contractAt(wallet).functions['__check_auth'];
    if (check === undefined) throw hostError('WasmVm', 'MissingValue', 'the contract is no account');
    const args = [value.bytes(payload), signature, value.vec()];
    this.#within(wallet, '__check_auth', args, () => check(this, wallet, args));
  }
}

export function contractIdOf(networkId: Buffer, contractIdPreimage: xdr.ContractIdPreimage): string {
  const preimage = new xdr.HashIdPreimageContractId({ networkId, contractIdPreimage });
  return StrKey.encodeContract(sha256(xdr.HashIdPreimage.envelopeTypeContractId(preimage).toXdr()));
}
