// SPDX-License-Identifier: BSD-2-Clause
// Messages in a table, each with a link to all that is known of it.
import { ask, useAnswer } from "./answers.js";
import { duration, moment } from "./format.js";
import { Answer } from "./notices.jsx";
import { link, messageLink } from "./route.js";
import { States, words } from "./states.jsx";

const SHOWN = 10;

// A page may end for lack of time, with nothing on it: then the next is asked
// for, a few times.
export async function askPages(url, signal, wanted = SHOWN) {
  const answer = { messages: [], next: null };
  let page = "";
  for (let tries = 0; tries < 10; tries++) {
    const more = await ask(url + page, signal);
    answer.messages.push(...more.messages);
    answer.next = more.next;
    answer.incomplete = answer.incomplete || more.incomplete;
    if (more.next === null || answer.messages.length >= wanted) break;
    page = `&before=${encodeURIComponent(more.next)}`;
  }
  return answer;
}

// The recipients that a search means, else all.
function meant(message) {
  const { matched, recipients } = message;
  return matched && matched.length > 0
    ? matched.map((i) => recipients[i]) : recipients;
}

function began(message) {
  return message.stamps.mail || message.stamps.connect
    || message.legs[0]?.stamps.mail || message.attempts[0]?.at;
}

// The empty sender is that of bounces.
export function sender(message) {
  if (message.sender === "") return "<>";
  return message.sender ?? "–";
}

function reason(recipients) {
  const one = recipients.find((recipient) => recipient.reason);
  return one ? words(one.reason) : "";
}

function Row({ message }) {
  const recipients = meant(message);
  const longest = Math.max(...recipients.map((one) =>
    one.latency_seconds ?? -1));
  const more = recipients.length - 1;
  const name = message.id || message.queue_id || message.legs[0]?.queue_id;
  return (
    <tr>
      <td data-label="Began">
        {name ? (
          <a href={messageLink(name)}>{moment(began(message))}</a>
        ) : moment(began(message))}
      </td>
      <td data-label="From" class="address">{sender(message)}</td>
      <td data-label="To" class="address">
        {recipients[0]?.address || "–"}
        {more > 0 && <span class="none"> and {more} more</span>}
      </td>
      <td data-label="State"><States recipients={recipients} />
        {" "}<span class="none">{reason(recipients)}</span></td>
      <td data-label="Latency" class="number">
        {longest >= 0 ? duration(longest) : "–"}
      </td>
      <td data-label="Queue id"><code>{message.queue_id || "–"}</code></td>
    </tr>
  );
}

export function MessageTable({ messages, label }) {
  return (
    <table class="messages" aria-label={label}>
      <thead><tr>
        <th scope="col">Began</th><th scope="col">From</th>
        <th scope="col">To</th><th scope="col">State</th>
        <th scope="col" class="number">Latency</th><th scope="col">Queue id</th>
      </tr></thead>
      <tbody>{messages.map((message, i) => (
        <Row key={message.id || i} message={message} />
      ))}</tbody>
    </table>
  );
}

export function MessageList({ title, query, none, id }) {
  const asked = new URLSearchParams({ q: query, limit: SHOWN });
  const answer = useAnswer(`/api/v1/messages?${asked}`, 10, askPages);
  return (
    <section id={id} aria-busy={answer.loading || undefined}>
      <h2>{title}</h2>
      <Answer answer={answer} what={title.toLowerCase()}>
        {(data) => (data.messages.length === 0
          ? <p class="none">{data.next ? "None was found so far."
            : none}</p>
          : <>
            <MessageTable messages={data.messages.slice(0, SHOWN)}
              label={title} />
            {data.next && (
              <p><a href={link("search", { q: query })}>All of them</a></p>
            )}
          </>)}
      </Answer>
    </section>
  );
}
