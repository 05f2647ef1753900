import t from 'tap';
import { headerLines, Headers as Ours } from '../../../../../../sandbox/guest/globals/fetch/headers.ts';
import { outcomeOf } from '../../../../../support/guest-web.ts';

type HeadersClass = typeof Headers;

const ATTEMPTS: Record<string, (H: HeadersClass) => unknown> = {
  'from a record': (H) => [...new H({ 'X-B': '2', a: '1' })],
  'from pairs': (H) => [
    ...new H([
      ['b', '2'],
      ['a', '1'],
      ['B', '3'],
    ]),
  ],
  'from headers': (H) => [...new H(new H({ a: '1' }))],
  'from nothing': (H) => [...new H()],
  'from null': (H) => [...new H(null as never)],
  'from a text': (H) => [...new H('a: b' as never)],
  'from a triple': (H) => [...new H([['a', 'b', 'c']] as never)],
  'from a map': (H) => [...new H(new Map([['a', 'b']]) as never)],
  'values lose their edges': (H) => new H({ a: ' \t v w \r\n' }).get('A'),
  'values are joined': (H) => {
    const headers = new H({ a: '1' });
    headers.append('A', '2');
    return headers.get('a');
  },
  'cookies are not': (H) => {
    const headers = new H([
      ['set-cookie', 'a'],
      ['x', 'y'],
      ['Set-Cookie', 'b'],
    ]);
    return [
      headers.get('set-cookie'),
      headers.getSetCookie(),
      [...headers],
      [...headers.keys()],
      [...headers.values()],
    ];
  },
  set: (H) => {
    const headers = new H([
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ]);
    headers.set('A', '4');
    headers.set('c', '5');
    headers.delete('B');
    return [[...headers], headers.has('a'), headers.has('b'), headers.get('b')];
  },
  forEach: (H) => {
    const seen: unknown[] = [];
    const note = function (this: unknown, value: string, name: string) {
      seen.push(this, value, name);
    };
    Reflect.apply(H.prototype.forEach, new H({ a: '1' }), [note, 'self']);
    return seen.map(String);
  },
  'a name with a space': (H) => new H({ 'a b': '1' }),
  'an empty name': (H) => new H([['', '1']]),
  'a value with a line break': (H) => new H({ a: 'x\r\ny: z' }),
  'a value with a null': (H) => new H({ a: 'x\0' }),
  'a value beyond bytes': (H) => new H({ a: '€' }),
  'a value of Latin-1': (H) => new H({ a: 'é' }).get('a'),
  'a symbol': (H) => new H({ a: Symbol('x') } as never),
  'a number': (H) => new H({ a: 1 } as never).get('a'),
  tag: (H) => Object.prototype.toString.call(new H()),
  'no callback': (H) => Reflect.apply(H.prototype.forEach, new H(), [undefined]),
};

t.test('headers do as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(
      await outcomeOf(() => attempt(Ours as unknown as HeadersClass)),
      await outcomeOf(() => attempt(Headers)),
      name,
    );
  }
});

t.test('what is sent is every line as it was given', (t) => {
  t.strictSame(
    headerLines(
      new Ours([
        ['B', '2'],
        ['a', '1'],
        ['b', '3'],
      ]),
    ),
    [
      ['b', '2'],
      ['a', '1'],
      ['b', '3'],
    ],
  );
  t.strictSame(
    Reflect.ownKeys(Ours)
      .filter((key) => typeof key === 'string')
      .sort(),
    ['length', 'name', 'prototype'],
  );
  t.end();
});
