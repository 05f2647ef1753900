import t from 'tap';
import { Access, FULL_ACCESS, isPermission, permissionForms } from '../../../../../src/domain/settings/access.ts';

t.test('a permission is a kind and a deed, with an id between them where there may be one', (t) => {
  for (const good of [
    '*',
    'relayers:*:*',
    'relayers:send',
    'relayers:a-1:read',
    'plugins:p@1:call',
    'api-keys:write',
  ]) {
    t.ok(isPermission(good), good);
  }
  for (const bad of [
    ...['', ':', 'relayers', 'relayers:', 'relayers::send', 'relayers:a:fly', 'relayers:a:send:x', 'cats:read'],
    ...['signers:k1:read', 'audit:write', 'constructor:read', '__proto__:read', 'Relayers:read', ' *', '*:*'],
  ]) {
    t.notOk(isPermission(bad), bad);
  }
  t.match(permissionForms(), /^\*, relayers:<id>:read\|send\|sign\|rpc\|write, /);
  t.end();
});

t.test('each deed is let in on its own, and lets its key read what it is done to', (t) => {
  const access = new Access(['relayers:a:send', 'plugins:*:call', 'signers:write', 'nonsense']);
  const may = (resource: Parameters<Access['sees']>[0], deed: string, id?: string) =>
    access.may({ resource, deed }, id);
  t.ok(may('relayers', 'send', 'a'));
  t.ok(may('relayers', 'read', 'a'));
  t.notOk(may('relayers', 'sign', 'a'));
  t.notOk(may('relayers', 'send', 'b'));
  t.notOk(may('relayers', 'send'), 'those that are yet to be are not among them');
  t.ok(may('plugins', 'call', 'any'));
  t.ok(may('signers', 'read'));
  t.notOk(may('audit', 'read'));
  t.ok(access.sees('relayers', 'a'));
  t.ok(access.sees('relayers'));
  t.notOk(access.sees('relayers', 'b'));
  t.notOk(access.sees('networks'));
  t.strictSame(access.idsOf('relayers'), ['a']);
  t.equal(access.idsOf('plugins'), undefined);
  t.strictSame(access.idsOf('metrics'), []);
  t.end();
});

t.test('full access is all of it', (t) => {
  t.ok(FULL_ACCESS.may({ resource: 'api-keys', deed: 'write' }));
  t.ok(FULL_ACCESS.may({ resource: 'relayers', deed: 'sign' }, 'any'));
  t.equal(FULL_ACCESS.idsOf('relayers'), undefined);
  t.equal(FULL_ACCESS.lacks(['*', 'relayers:*:*']), undefined);
  t.end();
});

t.test('nobody grants what they do not have', (t) => {
  const access = new Access(['relayers:a:*', 'plugins:call', 'api-keys:write', 'metrics:read']);
  t.equal(access.lacks(['relayers:a:send', 'relayers:a:*', 'plugins:p:call', 'plugins:read', 'metrics:*']), undefined);
  for (const beyond of ['*', 'relayers:*:read', 'relayers:b:read', 'plugins:p:write', 'plugins:*', 'audit:read', 'x']) {
    t.equal(access.lacks(['relayers:a:send', beyond]), beyond);
  }
  t.equal(new Access(['*']).lacks(['*', 'x']), undefined, 'who may do everything lacks nothing, whatever it is');
  t.end();
});
