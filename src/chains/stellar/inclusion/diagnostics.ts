import { xdr } from '@stellar/stellar-sdk/base';
import { printable } from '../../../domain/printable.ts';

const MAX_MESSAGE = 200;

/**
 * The first error in a contract's diagnostic events, in the reference's form: `contract_error=Contract(10)
 * message="…"`. Events that cannot be read are skipped.
 */
export function contractErrorIn(events: readonly string[]): string | undefined {
  for (const text of events) {
    const told = valuesIn(text);
    const error = told.find((value) => value.type === 'scvError');
    if (error?.type !== 'scvError') continue;
    const message = told.map(textIn).find((one) => one !== undefined && one !== 'error');
    const shown = message === undefined ? '' : ` message=${JSON.stringify(printable(message, MAX_MESSAGE))}`;
    return `contract_error=${named(error.error)}${shown}`;
  }
  return undefined;
}

/** An event's topics and data, and the values directly inside the data. */
function valuesIn(text: string): xdr.ScVal[] {
  try {
    const { topics, data } = xdr.DiagnosticEvent.fromXdr(text, 'base64').event.body.v0;
    return [...topics, data, ...(data.type === 'scvVec' ? (data.vec ?? []) : [])];
  } catch {
    return [];
  }
}

function textIn(value: xdr.ScVal): string | undefined {
  if (value.type === 'scvString') return value.str.toString();
  return value.type === 'scvSymbol' ? value.sym.toString() : undefined;
}

function named(error: xdr.ScError): string {
  if (error.type === 'sceContract') return `Contract(${error.contractCode})`;
  return `${error.type.slice('sce'.length)}(${error.code.name.slice('scec'.length)})`;
}
