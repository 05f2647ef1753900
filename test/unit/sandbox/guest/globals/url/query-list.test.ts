import t from 'tap';
import { parseQuery, QueryList } from '../../../../../../sandbox/guest/globals/url/query-list.ts';

t.test('tells its URL of changes, and not of what the URL did', (t) => {
  const told: string[] = [];
  const list = new QueryList(parseQuery('?a=1'), (query) => told.push(query));
  list.replace([['b', 'x y']]);
  t.strictSame(told, ['b=x+y']);
  list.reload('?c=3&d');
  t.strictSame(list.pairs, [
    ['c', '3'],
    ['d', ''],
  ]);
  t.equal(told.length, 1);
  t.equal(String(list), 'c=3&d=');
  const alone = new QueryList(parseQuery('a=1'));
  alone.replace([]);
  t.equal(String(alone), '');
  t.end();
});
