import t from 'tap';
import { isStrict, strict } from '../../../../../src/plugin-host/compiler/strict-code.ts';

t.test('a file is strict by its first words', (t) => {
  for (const text of [
    '"use strict"; a',
    "'use strict'\na",
    '#!/bin/x\n// c\n/* d\n */ "use strict"',
    '\uFEFF"use strict"',
  ]) {
    t.ok(isStrict(text), text);
  }
  for (const text of ['', 'a; "use strict"', '// "use strict"', '"use stricter"', '("use strict")']) {
    t.notOk(isStrict(text), text);
  }
  t.end();
});

t.test('a script becomes strict, and keeps its lines', (t) => {
  const made = (text: string) => Buffer.from(strict(Buffer.from(text))).toString();
  t.equal(made('var x = (() => {\n  a;\n})();'), 'var x = (() => {"use strict";\n  a;\n})();');
  t.equal(made('a; (() => {b})'), 'a; (() => {b})');
  t.end();
});
