import type { Json, JsonObject } from '../../src/domain/json/json.ts';
import { describeApi } from '../../src/http/openapi/document.ts';
import { describedBodies } from '../support/described.ts';

/** The description of the API, as a reader of JSON has it. */
export function describedApi(): JsonObject {
  return JSON.parse(JSON.stringify(describeApi(describedBodies()))) as JsonObject;
}

/** From the document down to each operation, schema and answer. */
const LEVELS = 3;

/** The API's description as a file in which each operation, schema and answer has a line, so that a change shows. */
export function descriptionText(document: Json): string {
  return `${linesOf(document, LEVELS)}\n`;
}

function linesOf(value: Json | undefined, levels: number): string {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{\n${entries.map(([name, one]) => `${JSON.stringify(name)}:${linesOf(one, levels - 1)}`).join(',\n')}\n}`;
}
