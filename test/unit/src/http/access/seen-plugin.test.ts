import t from 'tap';
import { Access, FULL_ACCESS } from '../../../../../src/domain/settings/access.ts';
import { seenPlugin } from '../../../../../src/http/access/seen-plugin.ts';

const VIEW = {
  id: 'p',
  permissions: { relayers: { a: { methods: ['send'] }, b: { methods: ['sign'] }, '*': { methods: [] } }, kv: true },
};

t.test('a key sees of a plugin’s relayers those that it sees itself', (t) => {
  const seen = (...permissions: string[]) => seenPlugin(VIEW, new Access(['plugins:p:call', ...permissions]));
  t.strictSame(seenPlugin(VIEW, FULL_ACCESS), VIEW);
  t.strictSame(seen(), { id: 'p', permissions: { relayers: {}, kv: true } });
  t.strictSame(seen('relayers:a:read'), {
    id: 'p',
    permissions: { relayers: { a: { methods: ['send'] } }, kv: true },
  });
  t.strictSame(seen('relayers:read'), VIEW);
  t.end();
});
