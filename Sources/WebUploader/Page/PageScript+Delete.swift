extension PageScript {
    /// Deletion and its undoing.
    static let delete = #"""
        import{ change, clean, text } from "./api.js";
        import{ answerOf, each, focusOn, reload, tell } from "./list.js";

        const find = (name) => document.getElementById(name);
        const offered = 10000;
        // The items of the last deletion: the name of each, and the key that restores it.
        let bin = [];
        let timer;

        function hide() {
            clearTimeout(timer);
            const hadFocus = document.activeElement === find("undo");
            find("undo").hidden = true;
            if (hadFocus) focusFirst();
        }

        function focusFirst() {
            (document.querySelector("#entries td.name a") || find("search")).focus();
        }

        // Hides the button later, but not while the pointer or the focus is on it.
        function hideLater() {
            clearTimeout(timer);
            timer = setTimeout(() => {
                if (find("undo").matches(":hover, :focus")) return hideLater();
                hide();
            }, offered);
        }

        export async function remove(entries) {
            if (entries.length === 0) return;
            find("delete-question").textContent = entries.length === 1
                ? text("deleteOne", clean(entries[0].name))
                : text("deleteSeveral", entries.length);
            if (!await answerOf(find("delete-dialog"))) return;
            hide();
            bin = [];
            const kept = [];
            const outcome = await each(entries, async (entry) => {
                const answer = await change("delete", [["path", entry.link]]);
                const { undo } = answer.items[0];
                if (undo) kept.push({ undo, name: entry.name });
            });
            const isForGood = outcome.done.length > kept.length;
            tell("deleted", outcome, isForGood ? [text("deleteForGood")] : []);
            focusFirst();
            // An undo that ended in the meantime may have left some items.
            bin = [...bin, ...kept];
            if (bin.length === 0) return;
            find("undo").hidden = false;
            hideLater();
        }

        export async function undo() {
            if (bin.length === 0) return;
            const wishes = bin;
            bin = [];
            // The button stays until all items are restored, which may take a while.
            clearTimeout(timer);
            const hadFocus = document.activeElement === find("undo");
            find("undo").disabled = true;
            const { done, problems, kept } = await restore(wishes);
            await reload();
            focusOn(done[0]?.link);
            tell("restored", { done, problems });
            bin = [...kept, ...bin];
            find("undo").disabled = false;
            find("undo").hidden = bin.length === 0;
            // If nothing in this folder was restored, no entry has the focus.
            if (!hadFocus || document.activeElement?.closest("#entries")) return;
            if (bin.length > 0) find("undo").focus(); else focusFirst();
        }

        // Restores one item after the other, so that a failure does not affect the rest. A failed
        // item can be tried again unless it is no longer in the bin.
        async function restore(wishes) {
            const [done, problems, kept] = [[], [], []];
            for (const [index, wish] of wishes.entries()) {
                try {
                    const answer = await change("restore", [["undo", wish.undo]]);
                    done.push(answer.items[0]);
                } catch (error) {
                    problems.push(`${clean(wish.name)}: ${error.message}`);
                    if (error.code !== "undo") kept.push(wish);
                    if (error.status !== 0) continue;
                    // The server does not answer: keep the others without trying.
                    kept.push(...wishes.slice(index + 1));
                    break;
                }
            }
            return { done, problems, kept };
        }

        """#

    /// The dialog that shows files.
    static let preview = #"""
        import{ clean, element, text } from "./api.js";
        import{ all, catchUp, focusOn } from "./list.js";

        const find = (name) => document.getElementById(name);
        const dialog = find("preview");
        const content = find("preview-content");
        // The most bytes of a text that are shown.
        const most = 262144;
        let entry;

        async function words(address, made) {
            const box = element("pre", { tabIndex: 0, dir: "auto" });
            box.setAttribute("role", "region");
            box.setAttribute("aria-labelledby", "preview-name");
            try {
                const isShort = made.size <= most;
                const answer = await fetch(
                    address, isShort ? {} : { headers: { "Range": `bytes=0-${most - 1}` } });
                if (!answer.ok) throw new Error();
                box.textContent = await answer.text();
                if (entry !== made) return;
                content.replaceChildren(box);
                if (!isShort) content.append(element("p", { textContent: text("cut") }));
            } catch { if (entry === made) fail(); }
        }

        function fail() {
            content.replaceChildren(element("p", { textContent: text("noPreview") }));
        }

        function fill(made) {
            entry = made;
            const name = clean(made.name);
            const address = `preview?path=${made.link}`;
            find("preview-name").textContent = name;
            find("preview-download").href = `download?path=${made.link}`;
            const some = listed();
            find("previous").disabled = some[0] === made;
            find("next").disabled = some.at(-1) === made;
            const makers = {
                image: () => element("img", { src: address, alt: name, onerror: fail }),
                video: () => element("video", { src: address, controls: true, onerror: fail }),
                audio: () => element("audio", { src: address, controls: true, onerror: fail }),
                pdf: () => element("iframe", { src: address, title: name }),
            };
            if (made.preview === "text") {
                content.replaceChildren(element("p", { textContent: text("loading") }));
                words(address, made);
            } else {
                const shown = makers[made.preview]();
                if (made.preview === "video" || made.preview === "audio") {
                    shown.setAttribute("aria-label", name);
                }
                content.replaceChildren(shown);
            }
        }

        function listed() { return all().filter((one) => one.preview); }

        function step(change) {
            const some = listed();
            const index = some.findIndex((one) => one.link === entry.link);
            const next = some[index + change];
            if (index >= 0 && next) fill(next);
        }

        export function show(made) {
            if (!made?.preview) return false;
            fill(made);
            dialog.showModal();
            return true;
        }

        find("previous").onclick = () => step(-1);
        find("next").onclick = () => step(1);
        dialog.onkeydown = (event) => {
            // There, the arrow keys seek in media and scroll text.
            if (event.target.matches("video, audio, pre")) return;
            if (event.key === "ArrowLeft") step(-1);
            if (event.key === "ArrowRight") step(1);
        };
        dialog.onclose = () => {
            // This stops media.
            content.replaceChildren();
            const link = entry?.link;
            entry = undefined;
            focusOn(link);
            catchUp();
        };

        """#
}
