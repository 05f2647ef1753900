/** Threat: a data URL whose text is broken in every place. */
import t from 'tap';
import { readDataUrl } from '../../../../../../sandbox/guest/globals/fetch/fetch.ts';

/** What Node's fetch reads, which is the measure. */
async function inNode(url: string) {
  try {
    const response = await fetch(url);
    return { type: response.headers.get('content-type'), bytes: [...(await response.bytes())] };
  } catch {
    return null;
  }
}

t.test('reads what Node reads', async (t) => {
  for (const url of [
    'data:,a%20b',
    'data:,%zz%4',
    'data:text/plain;base64,YWJj',
    'data:text/plain; base64,YWJj',
    'data:;base64,%59WJ%6a',
    'data:text/html;charset=x,a#hash',
    'data:;charset=utf-8,a',
    'data:nonsense,a',
    'data:text/plain',
    'data:;base64,***',
  ]) {
    const read = readDataUrl(new URL(url).href);
    t.strictSame(read === null ? null : { ...read, bytes: [...read.bytes] }, await inNode(url), url);
  }
});
