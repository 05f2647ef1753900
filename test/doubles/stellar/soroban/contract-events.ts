import { StrKey, xdr } from '@stellar/stellar-sdk';
import { type HostError, wordedError } from './host-error.ts';
import { value } from './values.ts';

/** Events of contracts, and the host's records of their calls for debugging. */
export class ContractEvents {
  readonly emittedEvents: xdr.ContractEvent[] = [];
  readonly diagnostics: xdr.DiagnosticEvent[] = [];
  #told: HostError | undefined;

  called(from: string | undefined, contract: string, name: string, args: readonly xdr.ScVal[]): void {
    const topics = [value.symbol('fn_call'), value.bytes(StrKey.decodeContract(contract)), value.symbol(name)];
    const [only] = args;
    const data = args.length === 1 && only !== undefined ? only : args.length === 0 ? value.void() : value.vec(...args);
    this.#note(from, 'diagnostic', topics, data);
  }

  returned(contract: string, name: string, result: xdr.ScVal): void {
    this.#note(contract, 'diagnostic', [value.symbol('fn_return'), value.symbol(name)], result);
  }

  emitted(contract: string | undefined, topics: readonly xdr.ScVal[], data: xdr.ScVal): void {
    this.emittedEvents.push(eventOf(contract, 'contract', topics, data));
    this.#note(contract, 'contract', topics, data);
  }

  /** Records an error once, for the frame in which it occurred. */
  failed(contract: string | undefined, error: HostError): void {
    if (this.#told === error) return;
    this.#told = error;
    const data = [value.text(error.message), ...error.data];
    const told = error.data.length === 0 ? value.text(error.message) : value.vec(...data);
    this.#note(contract, 'diagnostic', [value.symbol('error'), xdr.ScVal.scvError(error.error)], told);
  }

  #note(
    contract: string | undefined,
    type: xdr.ContractEventType['name'],
    topics: readonly xdr.ScVal[],
    data: xdr.ScVal,
  ): void {
    const event = eventOf(contract, type, topics, data);
    this.diagnostics.push(new xdr.DiagnosticEvent({ inSuccessfulContractCall: true, event }));
  }
}

export function eventOf(
  contract: string | undefined,
  type: xdr.ContractEventType['name'],
  topics: readonly xdr.ScVal[],
  data: xdr.ScVal,
): xdr.ContractEvent {
  return new xdr.ContractEvent({
    ext: xdr.ExtensionPoint.v0(),
    contractId: contract === undefined ? null : new xdr.ContractId(StrKey.decodeContract(contract)),
    type: xdr.ContractEventType.fromName(type),
    body: xdr.ContractEventBody.v0(new xdr.ContractEventV0({ topics: [...topics], data })),
  });
}

/** The text that a simulation fails with: the error, and what led to it. */
export function wordedFailure(error: HostError, diagnostics: readonly xdr.DiagnosticEvent[]): string {
  const log = diagnostics.toReversed().map(({ event }, index) => {
    const { topics, data } = event.body.v0;
    const contract = event.contractId === null ? '' : ` contract:${StrKey.encodeContract(event.contractId.toBytes())},`;
    return `   ${index}: [Diagnostic Event]${contract} topics:[${topics.map(worded).join(', ')}], data:${worded(data)}`;
  });
  return `HostError: ${wordedError(error.error)}\n\nEvent log (newest first):\n${log.join('\n')}\n`;
}

function worded(val: xdr.ScVal): string {
  switch (val.type) {
    case 'scvSymbol':
      return val.sym.toString();
    case 'scvString':
      return JSON.stringify(val.str.toString());
    case 'scvError':
      return wordedError(val.error);
    case 'scvBytes':
      return `Bytes(${Buffer.from(val.bytes.toBytes()).toString('hex')})`;
    case 'scvVec':
      return `[${(val.vec ?? []).map(worded).join(', ')}]`;
    case 'scvVoid':
      return 'Void';
    default:
      return JSON.stringify(val.toJson());
  }
}
