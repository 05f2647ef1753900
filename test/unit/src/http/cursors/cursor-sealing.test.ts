import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createSealing } from '../../../../../src/http/cursors/cursor-sealing.ts';

const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const plain = Buffer.from('a place');
const sealingWith = (keys: Uint8Array[], purpose = 'places') => createSealing(keys, randomBytes, purpose);

t.test('what is sealed opens with its key, for its purpose, and looks different each time', (t) => {
  const sealed = sealingWith([one]).seal(plain);
  t.strictSame(sealingWith([one]).open(sealed), plain);
  t.strictSame(sealingWith([two, one]).open(sealed), plain, 'also after the key was changed');
  t.equal(sealingWith([two]).open(sealed), undefined);
  t.equal(sealingWith([one], 'others').open(sealed), undefined);
  t.not(sealingWith([one]).seal(plain), sealed);
  t.throws(() => sealingWith([]), RangeError);
  t.end();
});

t.test('nobody makes one up or writes one otherwise', (t) => {
  const sealing = sealingWith([one]);
  const sealed = sealing.seal(plain);
  for (let at = 0; at < sealed.length; at += 1) {
    const other = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
    t.equal(sealing.open(other), undefined, `changed at ${at}`);
  }
  for (const text of ['', 'A', 'A'.repeat(40), 'A'.repeat(80), `${sealed}=`, `${sealed}A`, 'é'.repeat(80)]) {
    t.equal(sealing.open(text), undefined, text);
  }
  t.end();
});
