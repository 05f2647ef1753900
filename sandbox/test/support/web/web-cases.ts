/**
 * The cases of an API, by rule of its standard. Each is the body of an async function that ends without an error if the
 * rule holds. {@link TOOLS} are in its scope. Plain JavaScript, because it runs in a plugin.
 */
export interface WebApi {
  /** The standard that the cases follow. */
  readonly standard: string;
  readonly cases: Readonly<Record<string, string>>;
}

/** The checks that the bodies of cases use. */
export const TOOLS = `
const shown = (value) => {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return value + 'n';
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (Array.isArray(value)) return '[' + value.map(shown).join(', ') + ']';
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return value.constructor.name + '[' + [...value].map(shown).join(', ') + ']';
  if (value instanceof Map) return 'Map' + shown([...value]);
  if (value instanceof Set) return 'Set' + shown([...value]);
  if (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
    return '{' + Object.keys(value).map((key) => key + ': ' + shown(value[key])).join(', ') + '}';
  return Object.prototype.toString.call(value);
};
const fail = (text) => { throw new Error('case: ' + text); };
const same = (found, wanted, what = '') => {
  const [a, b] = [shown(found), shown(wanted)];
  if (a !== b) fail((what && what + ': ') + a + ' instead of ' + b);
};
const is = (found, wanted, what = '') => { if (!Object.is(found, wanted)) fail((what && what + ': ') + shown(found) + ' is not ' + shown(wanted)); };
const ok = (value, what = 'it does not hold') => { if (!value) fail(what); };
const checkError = (error, wanted) => {
  if (typeof wanted === 'function') { if (!(error instanceof Error) || error.constructor !== wanted) fail('threw ' + error); return; }
  if (!(error instanceof DOMException) || error.name !== wanted) fail('threw ' + error + ' instead of ' + wanted);
};
const throws = (wanted, attempt, what = '') => {
  let error;
  try { attempt(); } catch (thrown) { error = { thrown }; }
  if (error === undefined) fail(what + ' did not throw');
  checkError(error.thrown, wanted);
};
const rejects = async (wanted, promise, what = '') => {
  let error;
  try { const attempt = typeof promise === 'function' ? promise() : promise; if (!(attempt instanceof Promise)) fail('no promise'); await attempt; } catch (thrown) { error = { thrown }; }
  if (error === undefined) fail(what + ' did not reject');
  checkError(error.thrown, wanted);
};
const rejectsWith = async (wanted, promise) => {
  let error;
  try { await promise; } catch (thrown) { error = { thrown }; }
  if (error === undefined) fail('did not reject');
  is(error.thrown, wanted);
};
const bytes = (text) => new TextEncoder().encode(text);
const hex = (data) => Array.from(new Uint8Array(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength), (byte) => byte.toString(16).padStart(2, '0')).join('');
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));
const patience = async () => { for (let turns = 0; turns < 300; turns++) await turn(); fail('it does not come to an end'); };
const readAll = async (stream) => { const found = []; const reader = stream.getReader(); for (;;) { const { value, done } = await reader.read(); if (done) return found; found.push(value); } };
`;
