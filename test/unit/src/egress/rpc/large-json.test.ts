import t from 'tap';
import { parseLargeJson } from '../../../../../src/egress/rpc/large-json.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

const PIECE = 128 * 1024;
const never = async () => {};

/** The result of `JSON.parse` for the bytes, and the result of the parser that reads them in pieces. */
async function both(body: Buffer): Promise<[unknown, unknown]> {
  const settled = async (read: () => unknown) => {
    try {
      return { value: await read() };
    } catch {
      return 'refused';
    }
  };
  return [await settled(() => JSON.parse(body.toString('utf8'))), await settled(() => parseLargeJson(body, never))];
}

const filler = `"${'x'.repeat(PIECE)}"`;

t.test('a large text is what JSON.parse makes of it', async (t) => {
  const texts = [
    `[${filler},1,{"a":[]},[ ],{ },null,"\\\\",true]`,
    ` { "list" : [${filler}, [${filler}, {"a":1}]] , "\\u0061" : {"b":${filler}} } `,
    `{"__proto__":{"polluted":true},"constructor":1,"x":${filler}}`,
    `{"a":1,"b":2,"a":${filler}}`,
    `["\\\\",${filler},"\\"",",]}"]`,
    `[${'"e\u0301\ud83d\ude00",'.repeat(30_000)}0]`,
    filler,
    `[${'{"hash":"0x12","logs":[{"data":"0x"},{"data":"0x"}]},'.repeat(9_000)}[]]`,
  ];
  for (const text of texts) {
    const [expected, actual] = await both(Buffer.from(text));
    t.not(expected, 'refused', text.slice(0, 60));
    t.strictSame(actual, expected, text.slice(0, 60));
  }
  const own = (await parseLargeJson(Buffer.from(texts[2] ?? ''), never)) as object;
  t.equal(Object.getPrototypeOf(own), Object.prototype);
  t.not(Reflect.get({}, 'polluted'), true);
});

t.test('what JSON.parse refuses is refused', async (t) => {
  const texts = [
    `[${filler}`,
    `[${filler}}`,
    `[${filler},]`,
    `[,${filler}]`,
    `[${filler},,1]`,
    `[${filler}]1`,
    `{"a":${filler},}`,
    `{"a" ${filler}}`,
    `{a:${filler}}`,
    `{"a":${filler},"b"}`,
    `{"a":${filler},:1}`,
    `["${'x'.repeat(PIECE)}`,
    `[{"a":${filler}]}`,
    `\uFEFF[${filler}]`,
    `[${filler}\u00a0]`,
  ];
  for (const text of texts) {
    const [expected, actual] = await both(Buffer.from(text));
    t.equal(expected, 'refused', text.slice(0, 20));
    t.equal(actual, 'refused', text.slice(0, 20));
  }
  const invalid = Buffer.concat([Buffer.from('["'), Buffer.from([0xc3]), Buffer.from(`",${filler}]`)]);
  const [expected, actual] = await both(invalid);
  t.strictSame(actual, expected, 'bytes that are no UTF-8 become what they always become');
});

t.test('any value, and any value with a piece cut out, is read as JSON.parse reads it', async (t) => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), fc.nat(200), fc.nat(20), async (text, at, length) => {
      const whole = `[${filler},${text},{"k":${text},"l":${filler}}]`;
      const cut = whole.length - (at % whole.length);
      for (const one of [whole, whole.slice(0, cut) + whole.slice(cut + length)]) {
        const [expected, actual] = await both(Buffer.from(one));
        if (JSON.stringify(actual) !== JSON.stringify(expected)) throw new Error(one.slice(PIECE));
        seen += 1;
      }
    }),
    { numRuns: runsOf(60) },
  );
  t.ok(seen >= 120);
});

t.test('others have their turn between pieces, however the text is made', async (t) => {
  for (const entry of [`"${'a'.repeat(60)}"`, '0', `{"a":${'['.repeat(50)}${']'.repeat(50)}}`]) {
    const body = Buffer.from(
      `{"result":[${Array.from({ length: Math.min(900_000, 3e6 / entry.length) }, () => entry).join()}]}`,
    );
    let pauses = 0;
    await parseLargeJson(body, async () => void (pauses += 1));
    t.ok(pauses > body.length / PIECE, `${pauses} pauses for ${body.length} bytes of ${entry.slice(0, 20)}`);
  }
});

t.test('others have their turn within one long text, one long name and one long gap', async (t) => {
  const [escaped, gap] = ['\\"'.repeat(1_000_000), ' '.repeat(2_000_000)];
  const texts = {
    text: `["${escaped}"]`,
    name: `{"${escaped}":1}`,
    'gap before': `${gap}[]`,
    'gap behind a name': `{"a"${gap}:1}`,
  };
  for (const [what, text] of Object.entries(texts)) {
    let pauses = 0;
    t.strictSame(await parseLargeJson(Buffer.from(text), async () => void (pauses += 1)), JSON.parse(text), what);
    t.ok(pauses >= 500, `${pauses} pauses for one long ${what}`);
  }
});

t.test('what no honest answer has, and would take seconds to build, is refused before it is built', async (t) => {
  const refused: Record<string, [string, RegExp]> = {
    values: [`[${'0,'.repeat(1_000_001)}0]`, /too many values/],
    levels: [`[${filler},${'['.repeat(5_000)}${']'.repeat(5_000)}]`, /too deeply/],
    keys: [`{${Array.from({ length: 60_000 }, (_, index) => `"${index}":0`).join()}}`, /too many keys/],
  };
  for (const [what, [text, message]] of Object.entries(refused)) {
    await t.rejects(parseLargeJson(Buffer.from(text), never), { message }, what);
  }
});
