import t from 'tap';
import { text } from '../../../../../../sandbox/guest/globals/subtle/algorithm.ts';
import { subtleTools } from '../../../../../support/guest-crypto.ts';

const { parameters } = subtleTools();

t.test('dictionaries are read as Web IDL reads them', (t) => {
  t.equal(parameters.named('AES-GCM').name, 'AES-GCM');
  t.equal(parameters.named({ name: 'x', length: 5 })['length'], 5);
  t.throws(() => parameters.named({}), TypeError);
  t.equal(parameters.whole({ length: '12.7' }, 'length'), 12);
  t.equal(parameters.optionalWhole({}, 'length'), undefined);
  t.throws(() => parameters.whole({ length: 300 }, 'length', 255), TypeError);
  t.throws(() => parameters.whole({}, 'length'), TypeError);
  t.throws(() => parameters.whole({ length: Number.NaN }, 'length'), TypeError);
  t.same(parameters.bytes({ iv: new DataView(new ArrayBuffer(2)) }, 'iv'), new Uint8Array(2));
  t.throws(() => parameters.bytes({ iv: 'x' }, 'iv'), TypeError);
  t.equal(parameters.optionalBytes({}, 'label'), undefined);
  t.equal(parameters.hash({ hash: { name: 'sha-256' } }), 'SHA-256');
  t.throws(() => parameters.hash({ hash: 'MD5' }), { name: 'NotSupportedError' });
  t.throws(() => parameters.key({ public: {} }, 'public'), TypeError);
  t.equal(parameters.text({ namedCurve: 5 }, 'namedCurve'), '5');
  t.throws(() => text(Symbol('x')), TypeError);
  t.end();
});
