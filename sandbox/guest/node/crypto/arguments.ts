import { checkFunction, invalidArgType } from '../node-error.ts';

const DATA = 'of type string or an instance of Buffer, TypedArray, or DataView';
const ANY_DATA = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView';

/** The bytes of an argument that Node's functions take as data. */
export function bytesOf(data: unknown, encoding: unknown, name: string, expected = DATA): Uint8Array {
  if (typeof data === 'string')
    return Buffer.from(data, encoding === 'buffer' ? 'utf8' : (encoding as 'utf8' | undefined));
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw invalidArgType(name, expected, data);
}

/** Like {@link bytesOf}, for functions whose errors also name the ArrayBuffer. */
export function bytesNamingArrayBuffer(data: unknown, encoding: unknown, name: string): Uint8Array {
  return bytesOf(data, encoding, name, ANY_DATA);
}

/** Bytes as the caller wants them: a Buffer, or text. */
export function bufferOrText(bytes: Uint8Array, encoding: unknown): Buffer | string {
  const buffer = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined || encoding === null || encoding === 'buffer'
    ? buffer
    : buffer.toString(encoding as 'utf8');
}

/** Passes the result of a promise to a callback, after the running code has finished. */
export function callBack(callback: unknown, result: Promise<unknown>): void {
  checkFunction(callback, 'callback');
  result.then(
    (value) => process.nextTick(() => callback(null, value)),
    (error: unknown) => process.nextTick(() => callback(error)),
  );
}

/** Returns the result at once without a callback. With a callback, passes the result to it later. */
export function nowOrLater<T>(make: () => T, callback: unknown): T | undefined {
  if (callback === undefined) return make();
  callBack(callback, Promise.resolve().then(make));
  return undefined;
}
