import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/modules.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes modules by their names', (t) => {
  const { module } = part(partWorld()) as { module(name: string): unknown };
  t.match(module('path'), { sep: '/' });
  t.end();
});
