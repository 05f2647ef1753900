import t from 'tap';
import { EventParser } from '../../../../src/client/event-text.ts';

t.test('events come whole, however their text is cut', (t) => {
  const text = 'retry: 5\n\nid: 1\nevent: open\ndata: {}\n\n:\n\ndata:a\r\ndata: b\r\n\r\nid: 7\n\n';
  for (const size of [1, 3, 1_000]) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    const first = { id: '1', event: 'open', data: '{}' };
    // A chunk that ends between CR and LF adds an empty line, which has no meaning.
    t.strictSame(events[0], first);
    t.match(events.at(-1), { id: '1', event: 'message' });
    t.equal(parser.lastId, '7', 'an id alone counts');
  }
  t.end();
});

t.test('it goes on with the id that it was given', (t) => {
  const parser = new EventParser('5');
  t.strictSame(parser.push('data\n\n'), [{ id: '5', event: 'message', data: '' }]);
  t.end();
});
