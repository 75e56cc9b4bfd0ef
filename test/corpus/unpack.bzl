"""Unpacks an archive of test/corpus into one folder (a tree artifact), so that tests get it as a runfile."""

def _unpack_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(
        inputs = [ctx.file.archive],
        outputs = [folder],
        command = "set -eu; rm -rf \"$2\"; mkdir -p \"$2\"; zstd -qdc --long=27 \"$1\" | tar -xf - -C \"$2\" --strip-components=1 --no-same-owner",
        arguments = [ctx.file.archive.path, folder.path],
        mnemonic = "Unpack",
        progress_message = "Unpacking %s" % ctx.file.archive.short_path,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles(files = [folder]))]

unpack = rule(
    implementation = _unpack_impl,
    attrs = {"archive": attr.label(allow_single_file = [".tar.zst"], mandatory = True)},
    doc = "NAME.tar.zst, whose members lie below NAME/, becomes the folder NAME.",
)
