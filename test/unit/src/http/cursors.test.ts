import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createCursorIds, createPlaceCursors } from '../../../../src/http/cursors.ts';

const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const cursor = { transactions: { written: 12, position: 345 }, calls: { of: '0a1b2c3d', place: 2 ** 53 - 1 } };

t.test('a cursor is read as it was written, by every instance with the key', async (t) => {
  const id = createCursorIds([one], randomBytes).idOf(cursor);
  t.strictSame(createCursorIds([one], randomBytes).cursorOf(id), cursor);
  t.strictSame(createCursorIds([two, one], randomBytes).cursorOf(id), cursor, 'also after the key was changed');
  t.equal(createCursorIds([two], randomBytes).cursorOf(id), undefined);
  t.throws(() => createCursorIds([], randomBytes), RangeError);
  const places = createPlaceCursors([one], randomBytes);
  for (const place of [0, 17, 2 ** 53 - 1]) t.equal(places.placeOf(places.cursorOf(place)), place);
});

t.test('cursors tell nothing: the same position never looks the same, and all are as long', async (t) => {
  const ids = createCursorIds([one], randomBytes);
  const places = createPlaceCursors([one], randomBytes);
  const first = { transactions: { written: 0, position: 0 }, calls: { of: '00000000', place: 0 } };
  const made = [ids.idOf(cursor), ids.idOf(cursor), ids.idOf(first), ids.idOf(first)];
  const madePlaces = [0, 0, 2 ** 53 - 1].map((place) => places.cursorOf(place));
  t.equal(new Set([...made, ...madePlaces]).size, 7);
  for (const id of made) t.equal(id.length, 80);
  t.equal(new Set(madePlaces.map(({ length }) => length)).size, 1);
});

t.test('nobody makes one up, or uses that of another list', async (t) => {
  const ids = createCursorIds([one], randomBytes);
  const id = ids.idOf(cursor);
  for (let at = 0; at < id.length; at += 1) {
    const other = `${id.slice(0, at)}${id[at] === 'A' ? 'B' : 'A'}${id.slice(at + 1)}`;
    t.equal(ids.cursorOf(other), undefined, `changed at ${at}`);
  }
  for (const text of ['', '1-2-00000000-0', 'A'.repeat(80), 'A'.repeat(79), `${id}=`, `${id}A`, 'é'.repeat(80)]) {
    t.equal(ids.cursorOf(text), undefined, text);
  }
  const places = createPlaceCursors([one], randomBytes);
  for (const text of ['', '17', id]) {
    t.throws(() => places.placeOf(text), { code: 'INVALID_REQUEST', message: /^cursor: must be a next_cursor/ }, text);
  }
});
