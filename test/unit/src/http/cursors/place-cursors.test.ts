import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createPlaceCursors } from '../../../../../src/http/cursors/place-cursors.ts';
import { createCursorIds } from '../../../../../src/http/events/cursor.ts';

const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

t.test('a place is read as it was written, and its cursor tells nothing of it', (t) => {
  const cursors = createPlaceCursors([one], randomBytes);
  for (const place of [0, 17, 2 ** 53 - 1]) {
    const cursor = cursors.cursorOf(place);
    t.equal(createPlaceCursors([two, one], randomBytes).placeOf(cursor), place);
    t.not(cursors.cursorOf(place), cursor);
    t.equal(cursor.length, cursors.cursorOf(1).length);
  }
  t.end();
});

t.test('what was never a cursor of such a list is refused', (t) => {
  const cursors = createPlaceCursors([one], randomBytes);
  const place = { transactions: { written: 1, position: 1 }, calls: { of: '00000000', place: 1 } };
  for (const text of ['', '17', createCursorIds([one], randomBytes).idOf(place)]) {
    t.throws(() => cursors.placeOf(text), { code: 'INVALID_REQUEST', message: /^cursor: must be a next_cursor/ }, text);
  }
  t.end();
});
