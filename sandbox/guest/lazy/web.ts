import { createBlobClasses } from '../globals/fetch/blob.ts';
import { createBodyClass } from '../globals/fetch/body.ts';
import { createFetch } from '../globals/fetch/fetch.ts';
import { createFormDataClass } from '../globals/fetch/form-data.ts';
import { Headers } from '../globals/fetch/headers.ts';
import { createRequestClass } from '../globals/fetch/request.ts';
import { createResponseClass } from '../globals/fetch/response.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';

/** fetch and the classes around it, which refer to each other. */
export function create(services: RuntimeServices): Record<string, unknown> {
  const { classes, asker, streams, loadedStreams, atCall } = services;
  const blobs = createBlobClasses(streams);
  const FormData = createFormDataClass(blobs);
  const webClasses = { ...classes, blobs, FormData, streams, loadedStreams };
  const body = createBodyClass(webClasses);
  const request = createRequestClass(webClasses, body);
  const response = createResponseClass(webClasses, body);
  return {
    fetch: createFetch(asker, { classes: webClasses, body, request, response }, atCall),
    Headers,
    Request: request.Request,
    Response: response.Response,
    Blob: blobs.Blob,
    File: blobs.File,
    FormData,
    copyBlob: blobs.copy,
  };
}
