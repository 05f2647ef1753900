/** Writes the API's description, the client's types, and what plugins get by name: `npm run client`. */
import { writeFileSync } from 'node:fs';
import { apiText } from './api-text.ts';
import { capabilityFiles } from './capabilities-text.ts';
import { describedApi, descriptionText } from './description.ts';
import { SDK_NAMES, sdkText } from './sdk-text.ts';

const document = describedApi();
writeFileSync(new URL('../../src/http/openapi/openapi.json', import.meta.url), descriptionText(document));
writeFileSync(new URL('../../src/client/api.ts', import.meta.url), apiText(document));
writeFileSync(SDK_NAMES, await sdkText());
for (const { path, text } of capabilityFiles()) writeFileSync(new URL(`../../${path}`, import.meta.url), text);
