import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { REFERENCE_SCRIPT_PATH, readReferenceScript } from '../../../../../src/http/pages/reference-script.ts';

t.test('the script is that of the package', async (t) => {
  t.match(gunzipSync(await readReferenceScript()).toString('utf8'), 'createApiReference');
  t.equal(REFERENCE_SCRIPT_PATH, '/api-docs/reference.js');
});
